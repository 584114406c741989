# What each part may do, and nothing else. The wildcard resources are those for which AWS knows no other.

locals {
  pod_queues_arn = "arn:${data.aws_partition.current.partition}:sqs:${data.aws_region.current.name}:${data.aws_caller_identity.current.account_id}:${var.pod_queue_prefix}*"
}

data "aws_iam_policy_document" "stream_processor" {
  statement {
    sid = "ReadStreams"
    actions = [
      "dynamodb:DescribeStream",
      "dynamodb:GetRecords",
      "dynamodb:GetShardIterator",
      "dynamodb:ListStreams",
    ]
    resources = [
      "${aws_dynamodb_table.allowlists.arn}/stream/*",
      "${aws_dynamodb_table.giant.arn}/stream/*",
    ]
  }

  statement {
    sid = "AppendToLogs"
    actions = [
      "dynamodb:BatchGetItem",
      "dynamodb:ConditionCheckItem",
      "dynamodb:DeleteItem",
      "dynamodb:DescribeTable",
      "dynamodb:GetItem",
      "dynamodb:PutItem",
      "dynamodb:Query",
      "dynamodb:UpdateItem",
    ]
    resources = [aws_dynamodb_table.allowlists.arn]
  }

  statement {
    sid       = "ReadGiants"
    actions   = ["dynamodb:BatchGetItem", "dynamodb:DescribeTable"]
    resources = [aws_dynamodb_table.giant.arn]
  }

  statement {
    sid       = "Publish"
    actions   = ["sns:Publish"]
    resources = [aws_sns_topic.cache_invalidation.arn]
  }

  statement {
    sid       = "KeepPoisonRecords"
    actions   = ["sqs:SendMessage"]
    resources = [aws_sqs_queue.dead_letters.arn]
  }

  statement {
    sid       = "Log"
    actions   = ["logs:CreateLogStream", "logs:PutLogEvents"]
    resources = ["${aws_cloudwatch_log_group.stream_processor.arn}:*"]
  }
}

data "aws_iam_policy_document" "lambda_trust" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["lambda.amazonaws.com"]
    }
  }
}

# A policy of its own, so that whoever runs `catraca relay` instead of the Lambda can have it too.
resource "aws_iam_policy" "stream_processor" {
  name   = "allowlist-stream-processor"
  policy = data.aws_iam_policy_document.stream_processor.json
  tags   = var.tags
}

resource "aws_iam_role" "stream_processor" {
  name               = "allowlist-stream-processor"
  assume_role_policy = data.aws_iam_policy_document.lambda_trust.json
  tags               = var.tags
}

resource "aws_iam_role_policy_attachment" "stream_processor" {
  role       = aws_iam_role.stream_processor.name
  policy_arn = aws_iam_policy.stream_processor.arn
}

data "aws_iam_policy_document" "pod" {
  statement {
    sid = "UseTables"
    actions = [
      "dynamodb:BatchGetItem",
      "dynamodb:BatchWriteItem",
      "dynamodb:ConditionCheckItem",
      "dynamodb:DeleteItem",
      "dynamodb:DescribeContinuousBackups",
      "dynamodb:DescribeTable",
      "dynamodb:DescribeTimeToLive",
      "dynamodb:GetItem",
      "dynamodb:PartiQLInsert",
      "dynamodb:PutItem",
      "dynamodb:Query",
      "dynamodb:Scan",
      "dynamodb:UpdateItem",
    ]
    resources = [
      aws_dynamodb_table.allowlists.arn,
      "${aws_dynamodb_table.allowlists.arn}/index/CustomerAllowlistIndex",
      aws_dynamodb_table.giant.arn,
      aws_dynamodb_table.idempotency.arn,
      aws_dynamodb_table.guards.arn,
    ]
  }

  statement {
    sid = "OwnQueue"
    actions = [
      "sqs:CreateQueue",
      "sqs:DeleteMessage",
      "sqs:DeleteQueue",
      "sqs:GetQueueAttributes",
      "sqs:GetQueueUrl",
      "sqs:ListQueueTags",
      "sqs:ReceiveMessage",
      "sqs:SetQueueAttributes",
      "sqs:TagQueue",
    ]
    resources = [local.pod_queues_arn]
  }

  statement {
    sid       = "Subscribe"
    actions   = ["sns:ListSubscriptionsByTopic", "sns:Subscribe"]
    resources = [aws_sns_topic.cache_invalidation.arn]
  }

  statement {
    sid       = "FindOrphans"
    actions   = ["sns:Unsubscribe", "sqs:ListQueues"]
    resources = ["*"]
  }
}

resource "aws_iam_policy" "pod" {
  name   = "catraca-pod"
  policy = data.aws_iam_policy_document.pod.json
  tags   = var.tags
}

resource "aws_iam_role" "pod" {
  count              = var.pod_assume_role_policy == "" ? 0 : 1
  name               = "catraca-pod"
  assume_role_policy = var.pod_assume_role_policy
  tags               = var.tags
}

resource "aws_iam_role_policy_attachment" "pod" {
  count      = length(aws_iam_role.pod)
  role       = aws_iam_role.pod[0].name
  policy_arn = aws_iam_policy.pod.arn
}
