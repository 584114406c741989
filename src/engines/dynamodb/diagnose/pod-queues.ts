import { DEFAULT_POD_QUEUE } from '../feed/pod-queue.js'
import { subscriptionsOf } from '../feed/pod-queue-sweep.js'
import { SNSClient } from '../feed/sdk-sns.js'
import type { QueueClientOptions } from '../options.js'

/** How many pods have a queue on the topic. */
export async function countPodQueues(topicArn: string, options: QueueClientOptions): Promise<number> {
  const sns = new SNSClient({ ...options, maxAttempts: 2 })
  try {
    const endpoints = [...(await subscriptionsOf(sns, topicArn)).keys()]
    return endpoints.filter((one) => one.includes(DEFAULT_POD_QUEUE.prefix)).length
  } finally {
    sns.destroy()
  }
}
