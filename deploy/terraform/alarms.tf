# The first two are the alerts of the source design, on the figures that it has pods report.

resource "aws_cloudwatch_metric_alarm" "cache_hit_rate" {
  alarm_name          = "catraca-cache-hit-rate"
  alarm_description   = "Fewer than 70 % of checks are answered from memory."
  namespace           = "Allowlist/Pod"
  metric_name         = "CacheHitRate"
  statistic           = "Average"
  comparison_operator = "LessThanThreshold"
  threshold           = 70
  period              = 60
  evaluation_periods  = 5
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags
}

resource "aws_cloudwatch_metric_alarm" "p95_latency" {
  alarm_name          = "catraca-p95-latency"
  alarm_description   = "One check in twenty takes longer than 10 ms."
  namespace           = "Allowlist/Pod"
  metric_name         = "P95Latency"
  statistic           = "Average"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 10
  period              = 60
  evaluation_periods  = 5
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags
}

resource "aws_cloudwatch_metric_alarm" "dead_letters" {
  alarm_name          = "catraca-dead-letters"
  alarm_description   = "A change could not be processed: pods do not know of it until their lists are built anew."
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  period              = 60
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  dimensions = {
    QueueName = aws_sqs_queue.dead_letters.name
  }
}

resource "aws_cloudwatch_metric_alarm" "stream_lag" {
  alarm_name          = "catraca-stream-lag"
  alarm_description   = "Changes take more than 30 s to be processed; they are lost after 24 h."
  namespace           = "AWS/Lambda"
  metric_name         = "IteratorAge"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 30000
  period              = 60
  evaluation_periods  = 3
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  dimensions = {
    FunctionName = aws_lambda_function.stream_processor.function_name
  }
}

resource "aws_cloudwatch_metric_alarm" "stream_errors" {
  alarm_name          = "catraca-stream-errors"
  alarm_description   = "The stream processor fails."
  namespace           = "AWS/Lambda"
  metric_name         = "Errors"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  period              = 60
  evaluation_periods  = 3
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  dimensions = {
    FunctionName = aws_lambda_function.stream_processor.function_name
  }
}

# All tables of the product, by the name that the alarms have for them.
locals {
  watched_tables = {
    allowlists  = aws_dynamodb_table.allowlists.name
    giant       = aws_dynamodb_table.giant.name
    idempotency = aws_dynamodb_table.idempotency.name
    guards      = aws_dynamodb_table.guards.name
  }
}

resource "aws_cloudwatch_metric_alarm" "stream_throttles" {
  alarm_name          = "catraca-stream-throttles"
  alarm_description   = "The stream processor is not started as often as it is asked for: the account has no more concurrency."
  namespace           = "AWS/Lambda"
  metric_name         = "Throttles"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  period              = 60
  evaluation_periods  = 3
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  dimensions = {
    FunctionName = aws_lambda_function.stream_processor.function_name
  }
}

resource "aws_cloudwatch_metric_alarm" "stream_duration" {
  alarm_name          = "catraca-stream-duration"
  alarm_description   = "The stream processor takes more than 80 % of its time limit of 60 s."
  namespace           = "AWS/Lambda"
  metric_name         = "Duration"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 48000
  period              = 60
  evaluation_periods  = 3
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  dimensions = {
    FunctionName = aws_lambda_function.stream_processor.function_name
  }
}

resource "aws_cloudwatch_metric_alarm" "stream_losses" {
  alarm_name          = "catraca-stream-losses"
  alarm_description   = "A change could neither be processed nor kept in the dead letters."
  namespace           = "AWS/Lambda"
  metric_name         = "DestinationDeliveryFailures"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  period              = 60
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  dimensions = {
    FunctionName = aws_lambda_function.stream_processor.function_name
  }
}

resource "aws_cloudwatch_metric_alarm" "topic_failures" {
  alarm_name          = "catraca-topic-failures"
  alarm_description   = "The topic cannot deliver to the queue of a pod; the pod looks at the logs every so often instead."
  namespace           = "AWS/SNS"
  metric_name         = "NumberOfNotificationsFailed"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  period              = 60
  evaluation_periods  = 3
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  dimensions = {
    TopicName = aws_sns_topic.cache_invalidation.name
  }
}

resource "aws_cloudwatch_metric_alarm" "user_errors" {
  alarm_name          = "catraca-user-errors"
  alarm_description   = "DynamoDB refuses requests of this account as wrong or not allowed."
  namespace           = "AWS/DynamoDB"
  metric_name         = "UserErrors"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = var.alarm_user_errors
  period              = 60
  evaluation_periods  = 3
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags
}

resource "aws_cloudwatch_metric_alarm" "read_throttles" {
  for_each            = local.watched_tables
  alarm_name          = "catraca-${each.key}-read-throttles"
  alarm_description   = "Reads are throttled: a partition is hotter than 3,000 units a second."
  namespace           = "AWS/DynamoDB"
  metric_name         = "ReadThrottleEvents"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  period              = 60
  evaluation_periods  = 3
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  dimensions = {
    TableName = each.value
  }
}

resource "aws_cloudwatch_metric_alarm" "write_throttles" {
  for_each            = local.watched_tables
  alarm_name          = "catraca-${each.key}-write-throttles"
  alarm_description   = "Writes are throttled: a partition takes more than 1,000 units a second."
  namespace           = "AWS/DynamoDB"
  metric_name         = "WriteThrottleEvents"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  period              = 60
  evaluation_periods  = 3
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  dimensions = {
    TableName = each.value
  }
}

resource "aws_cloudwatch_metric_alarm" "read_units" {
  for_each            = local.watched_tables
  alarm_name          = "catraca-${each.key}-read-units"
  alarm_description   = "More read units a minute than are planned for: look at the hit rate, or pay."
  namespace           = "AWS/DynamoDB"
  metric_name         = "ConsumedReadCapacityUnits"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = var.alarm_read_units
  period              = 60
  evaluation_periods  = 5
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  dimensions = {
    TableName = each.value
  }
}

resource "aws_cloudwatch_metric_alarm" "write_units" {
  for_each            = local.watched_tables
  alarm_name          = "catraca-${each.key}-write-units"
  alarm_description   = "More write units a minute than are planned for: an import, or a caller that runs wild."
  namespace           = "AWS/DynamoDB"
  metric_name         = "ConsumedWriteCapacityUnits"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = var.alarm_write_units
  period              = 60
  evaluation_periods  = 5
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  dimensions = {
    TableName = each.value
  }
}

resource "aws_cloudwatch_metric_alarm" "dax_memory" {
  count               = length(aws_dax_cluster.allowlists)
  alarm_name          = "catraca-dax-memory"
  alarm_description   = "The cache of DAX uses more than 80 % of its memory."
  namespace           = "AWS/DAX"
  metric_name         = "CacheMemoryUtilization"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 80
  period              = 60
  evaluation_periods  = 5
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  dimensions = {
    ClusterId = aws_dax_cluster.allowlists[0].cluster_name
  }
}

resource "aws_cloudwatch_metric_alarm" "dax_cpu" {
  count               = length(aws_dax_cluster.allowlists)
  alarm_name          = "catraca-dax-cpu"
  alarm_description   = "A node of DAX is busy for more than 80 % of the time."
  namespace           = "AWS/DAX"
  metric_name         = "CPUUtilization"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 80
  period              = 60
  evaluation_periods  = 5
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  dimensions = {
    ClusterId = aws_dax_cluster.allowlists[0].cluster_name
  }
}

resource "aws_cloudwatch_metric_alarm" "dax_failures" {
  count               = length(aws_dax_cluster.allowlists)
  alarm_name          = "catraca-dax-failures"
  alarm_description   = "DAX fails requests; pods then ask DynamoDB, which costs more."
  namespace           = "AWS/DAX"
  metric_name         = "FailedRequestCount"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  period              = 60
  evaluation_periods  = 3
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  dimensions = {
    ClusterId = aws_dax_cluster.allowlists[0].cluster_name
  }
}

resource "aws_cloudwatch_metric_alarm" "dax_throttles" {
  count               = length(aws_dax_cluster.allowlists)
  alarm_name          = "catraca-dax-throttles"
  alarm_description   = "DAX throttles requests: it needs more or larger nodes."
  namespace           = "AWS/DAX"
  metric_name         = "ThrottledRequestCount"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  period              = 60
  evaluation_periods  = 3
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  dimensions = {
    ClusterId = aws_dax_cluster.allowlists[0].cluster_name
  }
}
