# Made only when subnets are given.

data "aws_iam_policy_document" "dax_trust" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["dax.amazonaws.com"]
    }
  }
}

# The product only reads through DAX, so DAX may only read.
data "aws_iam_policy_document" "dax" {
  statement {
    sid = "ReadTables"
    actions = [
      "dynamodb:BatchGetItem",
      "dynamodb:DescribeTable",
      "dynamodb:GetItem",
      "dynamodb:Query",
    ]
    resources = [
      aws_dynamodb_table.allowlists.arn,
      "${aws_dynamodb_table.allowlists.arn}/index/CustomerAllowlistIndex",
      aws_dynamodb_table.giant.arn,
    ]
  }
}

# For pods, which ask DAX with their own credentials.
data "aws_iam_policy_document" "pod_dax" {
  statement {
    sid       = "ReadThroughDax"
    actions   = ["dax:BatchGetItem", "dax:GetItem", "dax:Query"]
    resources = aws_dax_cluster.allowlists[*].arn
  }
}

resource "aws_iam_role" "dax" {
  count              = length(var.dax_subnet_ids) == 0 ? 0 : 1
  name               = "allowlist-dax"
  assume_role_policy = data.aws_iam_policy_document.dax_trust.json
  tags               = var.tags
}

resource "aws_iam_role_policy" "dax" {
  count  = length(aws_iam_role.dax)
  name   = "read-tables"
  role   = aws_iam_role.dax[0].id
  policy = data.aws_iam_policy_document.dax.json
}

resource "aws_iam_policy" "pod_dax" {
  count  = length(aws_dax_cluster.allowlists)
  name   = "catraca-pod-dax"
  policy = data.aws_iam_policy_document.pod_dax.json
  tags   = var.tags
}

resource "aws_iam_role_policy_attachment" "pod_dax" {
  count      = length(aws_iam_role.pod) * length(aws_dax_cluster.allowlists)
  role       = aws_iam_role.pod[0].name
  policy_arn = aws_iam_policy.pod_dax[0].arn
}

resource "aws_dax_subnet_group" "allowlists" {
  count      = length(var.dax_subnet_ids) == 0 ? 0 : 1
  name       = "allowlists-dax-subnet"
  subnet_ids = var.dax_subnet_ids
}

resource "aws_dax_cluster" "allowlists" {
  count                            = length(var.dax_subnet_ids) == 0 ? 0 : 1
  cluster_name                     = "allowlists-cache"
  iam_role_arn                     = aws_iam_role.dax[0].arn
  node_type                        = var.dax_node_type
  replication_factor               = var.dax_nodes
  subnet_group_name                = aws_dax_subnet_group.allowlists[0].name
  security_group_ids               = var.dax_security_group_ids
  cluster_endpoint_encryption_type = "TLS"
  tags                             = var.tags

  server_side_encryption {
    enabled = true
  }
}
