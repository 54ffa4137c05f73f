"""What operators ask about Kafka: settings, disturbances, known defects."""
