import { DescribeTableCommand, type DynamoDBClient } from '../client/sdk.js'

const LOOK_EVERY_MS = 60_000

/**
 * Whether tables are ACTIVE, for /health. DynamoDB limits calls about tables per account, so each process calls once
 * a minute, in the background. Without the permission the status is absent, and nothing else depends on it.
 */
export class TableWatch {
  private lookedAtMs = Number.NEGATIVE_INFINITY
  private lastStatus: Record<string, string> = {}

  constructor(
    private readonly client: DynamoDBClient,
    private readonly tables: Readonly<Record<string, string>>,
  ) {}

  /** By role; empty until the first answer. */
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
