#!/bin/sh
# A search on YARN: the primary node of EMR or Dataproc, or any machine with HADOOP_CONF_DIR. Each node needs Python with
# llvmlite, pyarrow and pandas: name it as PYSPARK_PYTHON, or ship it (see docs/guide/spark-deployment.md).
set -eu
exec spark-submit \
    --master yarn \
    --deploy-mode client \
    --name insync \
    --num-executors "${EXECUTORS:-4}" \
    --executor-cores 4 \
    --executor-memory 2g \
    --conf spark.executor.memoryOverhead=3g \
    --conf spark.shuffle.compress=false \
    --conf spark.executorEnv.AWS_REGION="${AWS_REGION:-}" \
    run.py "$@"
