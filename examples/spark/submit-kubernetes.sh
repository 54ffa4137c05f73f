#!/bin/sh
# A search on Kubernetes; the driver runs in the cluster too, from the image.
set -eu
exec spark-submit \
    --master "k8s://${KUBERNETES_API:?the address of the API server, such as https://10.0.0.1:6443}" \
    --deploy-mode cluster \
    --name insync \
    --conf spark.kubernetes.container.image="${IMAGE:?the image of the Containerfile}" \
    --conf spark.kubernetes.executor.podTemplateFile=executor-pod.yaml \
    --conf spark.kubernetes.driver.podTemplateFile=executor-pod.yaml \
    --conf spark.kubernetes.driver.podTemplateContainerName=spark-kubernetes-executor \
    --conf spark.kubernetes.authenticate.driver.serviceAccountName=spark \
    --conf spark.executor.instances="${EXECUTORS:-4}" \
    --conf spark.executor.cores=4 \
    --conf spark.executor.memory=2g \
    --conf spark.executor.memoryOverhead=3g \
    --conf spark.shuffle.compress=false \
    "${SCRIPT:-local:///opt/insync/run.py}" "$@"
