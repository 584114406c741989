output "store_url" {
  description = "What CATRACA_STORE is set to."
  value       = "dynamodb://${data.aws_region.current.name}/${var.allowlists_table}?giant=${var.giant_table}&idempotency=${var.idempotency_table}&guards=${var.guards_table}"
}

output "invalidation_topic_arn" {
  description = "The topic that pods subscribe their queues to."
  value       = aws_sns_topic.cache_invalidation.arn
}

output "pod_policy_arn" {
  description = "The policy of the pods, for a role that was made elsewhere."
  value       = aws_iam_policy.pod.arn
}

output "pod_role_arn" {
  description = "The role of the pods, when one was made."
  value       = one(aws_iam_role.pod[*].arn)
}

output "stream_processor_policy_arn" {
  description = "The policy of the stream processor, for whoever runs `catraca relay` in its place."
  value       = aws_iam_policy.stream_processor.arn
}

output "dead_letter_queue_url" {
  description = "Where changes end that could not be processed."
  value       = aws_sqs_queue.dead_letters.url
}

output "dax_endpoint" {
  description = "What dynamodb.daxEndpoint is set to, when there is a cluster."
  value       = one([for cluster in aws_dax_cluster.allowlists : "daxs://${cluster.configuration_endpoint}"])
}
