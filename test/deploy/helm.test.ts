import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import Schema from 'typebox/schema'
import { SERVER_DEFAULTS } from '../../src/server/options.js'
import {
  type Any,
  chartFile,
  defaults,
  examples,
  exampleValues,
  manifestText,
  manifestUrl,
  merge,
  objectsOf,
  render,
  valuesSchema,
} from '../support/helm.js'
import { assertSound, find, pods } from '../support/kubernetes.js'

const root = new URL('../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const MONITORED = { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } }

describe('Helm chart', () => {
  for (const name of examples) {
    it(`makes sound objects for ${name}`, () => {
      assertSound(render(merge(exampleValues(name), MONITORED)))
    })

    it(`is what the plain manifests of ${name} are made of`, () => {
      const written = readFileSync(manifestUrl(name), 'utf8')
      assert.equal(written, manifestText(name), 'node scripts/render-manifests.mjs')
      assertSound(objectsOf(written))
    })
  }

  it('checks its values', () => {
    const wrong = (over: Any) => !Schema.Check(valuesSchema(), merge(defaults(), over))
    assert.equal(wrong({}), false)
    for (const name of examples) assert.equal(wrong(exampleValues(name)), false, name)
    assert.ok(wrong({ replicas: 3 }))
    assert.ok(wrong({ store: { url: 'embedded:relative' } }))
    assert.ok(wrong({ store: { perCapability: { keys: 'redis://r:6379/0' } } }))
    assert.ok(wrong({ dynamodb: { topicArn: 'my-topic' } }))
    assert.ok(wrong({ store: { url: 'embedded:/data' } }), 'its volume would be the root')
    assert.ok(wrong({ persistence: { accessModes: ['ReadWriteMany'] } }))
  })

  it('has one pod with a volume for the embedded store, and many without for others', () => {
    const embedded = render(exampleValues('embedded'))
    const [claim] = find(embedded, 'StatefulSet').spec.volumeClaimTemplates
    const [{ containers }] = pods(embedded).map(({ spec }) => spec)
    assert.equal(find(embedded, 'StatefulSet').spec.replicas, 1)
    // A mount upon the store itself could not be renamed by `catraca restore`.
    const { value: store } = containers[0].env.find((one: Any) => one.name === 'CATRACA_STORE')
    assert.equal(store, 'embedded:/var/lib/catraca/data')
    assert.ok(
      containers[0].volumeMounts.some(
        (one: Any) => one.name === claim.metadata.name && one.mountPath === '/var/lib/catraca',
      ),
    )
    assert.equal(embedded.filter(({ kind }) => /Deployment|Autoscaler/.test(kind)).length, 0)
    const redis = render(exampleValues('redis'))
    assert.equal(redis.filter(({ kind }) => kind === 'StatefulSet').length, 0)
    assert.equal(
      find(redis, 'HorizontalPodAutoscaler').spec.scaleTargetRef.name,
      find(redis, 'Deployment').metadata.name,
    )
    assert.equal('replicas' in find(redis, 'Deployment').spec, false, 'the autoscaler sets it')
    assert.equal(
      find(render({ ...exampleValues('redis'), autoscaling: { enabled: false } }), 'Deployment').spec
        .replicas,
      3,
    )
  })

  it('waits at the end for as long as the server may take', () => {
    for (const [preStopSeconds, timeoutMs] of [
      [5, SERVER_DEFAULTS.shutdownTimeoutMs],
      [0, 60_500],
    ] as const) {
      const [pod] = pods(render({ shutdown: { preStopSeconds, timeoutMs } }))
      const [container] = pod.spec.containers
      assert.deepEqual(container.lifecycle.preStop.exec.command, ['sleep', String(preStopSeconds)])
      assert.ok(pod.spec.terminationGracePeriodSeconds * 1000 >= preStopSeconds * 1000 + timeoutMs + 2000)
      const told = container.env.find((one: Any) => one.name === 'CATRACA_SHUTDOWN_TIMEOUT_MS')
      assert.equal(told.value, String(timeoutMs))
      assert.ok(SERVER_DEFAULTS.drainMs < timeoutMs)
    }
  })

  it('tells pods of the topic for their queues, and runs the relay with fewer secrets', () => {
    const objects = render(exampleValues('dynamodb'))
    const relay = pods(objects).find(({ spec }) => spec.containers[0].name === 'relay')
    const server = pods(objects).find(({ spec }) => spec.containers[0].name === 'catraca')
    for (const { spec } of [relay, server]) {
      const topic = spec.containers[0].env.find((one: Any) => one.name === 'CATRACA_DYNAMODB_TOPIC_ARN')
      assert.match(topic.value, /^arn:aws:sns:/)
    }
    assert.equal(
      relay.spec.volumes.some((one: Any) => one.name === 'secrets'),
      false,
    )
    assert.match(JSON.stringify(find(objects, 'ServiceAccount').metadata.annotations), /role\/catraca-pod/)
  })

  it('mounts only the secrets that are named', () => {
    const paths = (over: Any) => {
      const volume = pods(render(over))[0].spec.volumes.find((one: Any) => one.name === 'secrets')
      return volume?.projected.sources.map(({ secret }: Any) => secret.items[0].path)
    }
    assert.deepEqual(paths({}), ['keys'])
    assert.deepEqual(paths(exampleValues('redis')), ['keys', 'redis-password', 'pepper'])
    assert.equal(paths({ keys: { inStore: true } }), undefined)
  })

  it('brings the alert rules, with the memory of its containers', () => {
    assert.equal(
      read('deploy/helm/catraca/files/catraca.rules.yml'),
      read('deploy/prometheus/catraca.rules.yml'),
    )
    const rule = find(render({ prometheusRule: { enabled: true, memoryLimitBytes: 4e9 } }), 'PrometheusRule')
    assert.equal(rule.spec.groups[0].rules[0].expr, 'vector(4000000000)')
    assert.ok(JSON.stringify(rule).includes('{{ $labels.instance }}'), 'their own templates are left alone')
  })

  it('is of the version of the package', () => {
    const { version } = JSON.parse(read('package.json'))
    assert.deepEqual([chartFile().version, chartFile().appVersion], [version, version])
  })
})
