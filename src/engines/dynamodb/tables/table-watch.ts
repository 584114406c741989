import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'

const LOOK_EVERY_MS = 60_000

/**
 * Whether tables are ACTIVE, for /health. DynamoDB allows an account few questions about tables, so each process asks
 * once a minute, in the background; who may not ask is not told, and nothing else depends on it.
 */
export class TableWatch {
  private lookedAtMs = Number.NEGATIVE_INFINITY
  private lastStatus: Record<string, string> = {}

  constructor(
    private readonly client: DynamoDBClient,
    private readonly tables: Readonly<Record<string, string>>,
  ) {}

  /** By role; empty until the first look was answered. */
  status(): Record<string, string> {
    if (performance.now() - this.lookedAtMs >= LOOK_EVERY_MS) {
      this.lookedAtMs = performance.now()
      void this.look()
    }
    return this.lastStatus
  }

  async look(): Promise<void> {
    const looks = Object.entries(this.tables).map(async ([role, TableName]) => {
      const { Table } = await this.client.send(new DescribeTableCommand({ TableName }))
      return [role, Table?.TableStatus ?? 'UNKNOWN'] as const
    })
    const answers = await Promise.allSettled(looks)
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    this.lastStatus = Object.fromEntries(found)
  }
}
