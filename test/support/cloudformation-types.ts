/** Of the AWS documentation: what resources of a type take, what they must have, and what Fn::GetAtt tells of them. */
interface ResourceType {
  required: string[]
  optional: string[]
  attributes: string[]
}

const type = (required: string, optional: string, attributes = ''): ResourceType => {
  const [one, two, three] = [required, optional, attributes].map((names) => names.split(' ').filter(Boolean))
  return { required: one!, optional: two!, attributes: three! }
}

export const RESOURCE_TYPES: Record<string, ResourceType> = {
  'AWS::DynamoDB::Table': type(
    'KeySchema',
    'TableName BillingMode AttributeDefinitions GlobalSecondaryIndexes LocalSecondaryIndexes StreamSpecification TimeToLiveSpecification PointInTimeRecoverySpecification DeletionProtectionEnabled ProvisionedThroughput SSESpecification TableClass Tags',
    'Arn StreamArn',
  ),
  'AWS::SNS::Topic': type('', 'TopicName DisplayName KmsMasterKeyId Subscription Tags', 'TopicArn TopicName'),
  'AWS::SQS::Queue': type(
    '',
    'QueueName MessageRetentionPeriod SqsManagedSseEnabled KmsMasterKeyId VisibilityTimeout RedrivePolicy Tags',
    'Arn QueueName QueueUrl',
  ),
  'AWS::Logs::LogGroup': type('', 'LogGroupName RetentionInDays KmsKeyId Tags', 'Arn'),
  'AWS::Lambda::Function': type(
    'Code Role',
    'FunctionName Handler Runtime Timeout MemorySize Environment Description Architectures Tags',
    'Arn',
  ),
  'AWS::Lambda::EventSourceMapping': type(
    'FunctionName',
    'EventSourceArn StartingPosition BatchSize BisectBatchOnFunctionError MaximumRetryAttempts MaximumRecordAgeInSeconds ParallelizationFactor FunctionResponseTypes DestinationConfig FilterCriteria Enabled',
    'Id',
  ),
  'AWS::IAM::ManagedPolicy': type('PolicyDocument', 'ManagedPolicyName Description Path Roles', 'PolicyArn'),
  'AWS::IAM::Role': type(
    'AssumeRolePolicyDocument',
    'RoleName ManagedPolicyArns Policies Description Path PermissionsBoundary Tags',
    'Arn RoleId',
  ),
  'AWS::CloudWatch::Alarm': type(
    'ComparisonOperator EvaluationPeriods',
    'AlarmName AlarmDescription Namespace MetricName Statistic Threshold Period TreatMissingData AlarmActions OKActions Dimensions Tags',
    'Arn',
  ),
  'AWS::DAX::SubnetGroup': type('SubnetIds', 'SubnetGroupName Description'),
  'AWS::DAX::Cluster': type(
    'IAMRoleARN NodeType ReplicationFactor',
    'ClusterName SubnetGroupName SecurityGroupIds ClusterEndpointEncryptionType SSESpecification ParameterGroupName Description Tags',
    'Arn ClusterDiscoveryEndpoint ClusterDiscoveryEndpointURL',
  ),
}
