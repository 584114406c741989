variable "allowlists_table" {
  description = "Name of the table of allowlists; TABLE in the store URL."
  type        = string
  default     = "Allowlists"
}

variable "giant_table" {
  description = "Name of the table of giant allowlists; giant= in the store URL."
  type        = string
  default     = "AllowlistsGiant"
}

variable "idempotency_table" {
  description = "Name of the table of idempotency records; idempotency= in the store URL."
  type        = string
  default     = "mq-probe-idempotency"
}

variable "guards_table" {
  description = "Name of the table of limits, locks, codes, tokens and cache; guards= in the store URL."
  type        = string
  default     = "catraca-guards"
}

variable "deletion_protection" {
  description = "Whether the tables refuse to be deleted."
  type        = bool
  default     = true
}

variable "stream_processor_zip" {
  description = "Path of the bundled stream processor (deploy/lambda/stream-processor, built)."
  type        = string
}

variable "lambda_runtime" {
  description = "Runtime of the stream processor."
  type        = string
  default     = "nodejs22.x"
}

variable "pod_assume_role_policy" {
  description = "JSON of who may take the role of the pods (EKS pod identity, IRSA or ECS). Empty: no role is made, attach the policy to your own."
  type        = string
  default     = ""
}

variable "pod_queue_prefix" {
  description = "What the name of the queue of each pod begins with."
  type        = string
  default     = "allowlist-pod-invalidation-"
}

variable "alarm_actions" {
  description = "ARNs told when an alarm changes its state."
  type        = list(string)
  default     = []
}

variable "alarm_user_errors" {
  description = "Requests a minute that DynamoDB refuses as wrong, in the whole account, above which it is told."
  type        = number
  default     = 100
}

variable "alarm_read_units" {
  description = "Read units a minute of a table above which it is told; by default 80 % of what one partition gives."
  type        = number
  default     = 144000
}

variable "alarm_write_units" {
  description = "Write units a minute of a table above which it is told; by default 80 % of what one partition takes."
  type        = number
  default     = 48000
}

variable "dax_subnet_ids" {
  description = "Private subnets of the DAX cluster. Empty: no cluster."
  type        = list(string)
  default     = []
}

variable "dax_security_group_ids" {
  description = "Security groups of the DAX cluster."
  type        = list(string)
  default     = []
}

variable "dax_node_type" {
  description = "Size of the nodes of the DAX cluster."
  type        = string
  default     = "dax.r5.large"
}

variable "dax_nodes" {
  description = "Number of nodes of the DAX cluster."
  type        = number
  default     = 3
}

variable "tags" {
  description = "Tags of everything that takes tags."
  type        = map(string)
  default     = { Application = "catraca" }
}
