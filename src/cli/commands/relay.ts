import type { Command } from 'commander'
import { startRelay } from '../../app/relay.js'
import { storeOf } from '../../config/load.js'
import { redactStoreUrl } from '../../engines/registry.js'
import { note } from '../output/print.js'
import { type ConfigOptions, configOf, configOption, settingOption } from './support/session.js'
import { closeInTime, stopBy, stopSignal } from './support/stop-signal.js'

export function addRelayCommand(program: Command): void {
  program
    .command('relay')
    .description('read the table streams of a DynamoDB store and write the change logs that pods read')
    .addOption(settingOption('store', 'url'))
    .addOption(settingOption('dynamodb.topicArn', 'arn'))
    .addOption(configOption())
    .action(relay)
}

async function relay(flags: ConfigOptions): Promise<void> {
  const stopAsked = stopSignal()
  const config = configOf(flags, { store: 'store', 'dynamodb.topicArn': 'topic' })
  const store = storeOf(config, 'allowlists')
  const { topicArn, logBatchMs: batchMs } = config.dynamodb
  const running = await startRelay({
    store,
    batchMs,
    ...(topicArn !== undefined && { topicArn }),
    onReport: (message, error) =>
      note(`catraca: ${message}${error === undefined ? '' : `: ${reasonOf(error)}`}`),
  })
  note(`Catraca relays the changes of ${redactStoreUrl(store)} (${running.shardCount} shards at the moment)`)
  await stopAsked
  const byMs = stopBy(config.server.shutdownTimeoutMs)
  await closeInTime(
    () => running.stop(),
    byMs,
    (message) => note(`catraca: ${message}`),
  )
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
