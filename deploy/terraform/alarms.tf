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

resource "aws_cloudwatch_metric_alarm" "read_throttles" {
  alarm_name          = "catraca-read-throttles"
  alarm_description   = "Reads of allowlists are throttled: a partition is hotter than 3,000 units a second."
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
    TableName = aws_dynamodb_table.allowlists.name
  }
}

resource "aws_cloudwatch_metric_alarm" "write_throttles" {
  alarm_name          = "catraca-write-throttles"
  alarm_description   = "Writes of allowlists are throttled: a partition takes more than 1,000 units a second."
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
    TableName = aws_dynamodb_table.allowlists.name
  }
}
