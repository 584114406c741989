# Changes of members: table stream → processor → topic → one queue for each pod (which the pod makes itself).

resource "aws_sns_topic" "cache_invalidation" {
  name = "allowlist-cache-invalidation"
  tags = var.tags
}

resource "aws_sqs_queue" "dead_letters" {
  name                      = "allowlist-stream-dead-letters"
  message_retention_seconds = 1209600
  sqs_managed_sse_enabled   = true
  tags                      = var.tags
}

resource "aws_cloudwatch_log_group" "stream_processor" {
  name              = "/aws/lambda/allowlist-stream-processor"
  retention_in_days = 30
  tags              = var.tags
}

resource "aws_lambda_function" "stream_processor" {
  function_name    = "allowlist-stream-processor"
  filename         = var.stream_processor_zip
  source_code_hash = filebase64sha256(var.stream_processor_zip)
  handler          = "index.handler"
  runtime          = var.lambda_runtime
  role             = aws_iam_role.stream_processor.arn
  timeout          = 60
  memory_size      = 512
  tags             = var.tags

  environment {
    variables = {
      ALLOWLISTS_TABLE   = aws_dynamodb_table.allowlists.name
      GIANT_TABLE        = aws_dynamodb_table.giant.name
      INVALIDATION_TOPIC = aws_sns_topic.cache_invalidation.arn
    }
  }

  depends_on = [
    aws_cloudwatch_log_group.stream_processor,
    aws_iam_role_policy_attachment.stream_processor,
  ]
}

# From TRIM_HORIZON: LATEST would skip what is written while the mapping is being made.
resource "aws_lambda_event_source_mapping" "allowlists" {
  event_source_arn               = aws_dynamodb_table.allowlists.stream_arn
  function_name                  = aws_lambda_function.stream_processor.arn
  starting_position              = "TRIM_HORIZON"
  batch_size                     = 100
  bisect_batch_on_function_error = true
  maximum_retry_attempts         = 10
  maximum_record_age_in_seconds  = 86400
  parallelization_factor         = 1
  function_response_types        = ["ReportBatchItemFailures"]

  destination_config {
    on_failure {
      destination_arn = aws_sqs_queue.dead_letters.arn
    }
  }
}

resource "aws_lambda_event_source_mapping" "giant" {
  event_source_arn               = aws_dynamodb_table.giant.stream_arn
  function_name                  = aws_lambda_function.stream_processor.arn
  starting_position              = "TRIM_HORIZON"
  batch_size                     = 100
  bisect_batch_on_function_error = true
  maximum_retry_attempts         = 10
  maximum_record_age_in_seconds  = 86400
  parallelization_factor         = 1
  function_response_types        = ["ReportBatchItemFailures"]

  destination_config {
    on_failure {
      destination_arn = aws_sqs_queue.dead_letters.arn
    }
  }
}
