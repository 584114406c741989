import assert from 'node:assert/strict'
import { assertCommand, assertOpenRoute, assertSettings } from './deploy-names.js'
import type { Any } from './helm.js'

const VERSIONS: Record<string, string> = {
  ConfigMap: 'v1',
  Service: 'v1',
  ServiceAccount: 'v1',
  Deployment: 'apps/v1',
  StatefulSet: 'apps/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  PodDisruptionBudget: 'policy/v1',
  NetworkPolicy: 'networking.k8s.io/v1',
  ServiceMonitor: 'monitoring.coreos.com/v1',
  PrometheusRule: 'monitoring.coreos.com/v1',
}

export const find = (objects: Any[], kind: string): Any =>
  objects.find((one) => one.kind === kind) ?? assert.fail(`no ${kind}`)
export const pods = (objects: Any[]): Any[] =>
  objects.filter(({ kind }) => /^(Deployment|StatefulSet)$/.test(kind)).map(({ spec }) => spec.template)
const covers = (selector: Any, labels: Any) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value)

/** What Kubernetes would refuse, or accept and never do what was meant. */
export function assertSound(objects: Any[]): void {
  const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`)
  assert.equal(new Set(names).size, names.length, 'two objects of one name')
  for (const { apiVersion, kind, metadata } of objects) {
    assert.equal(apiVersion, VERSIONS[kind], kind)
    assert.match(metadata.name, /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)
    assert.equal(metadata.labels['app.kubernetes.io/name'], 'catraca', kind)
    for (const value of Object.values<string>(metadata.labels)) assert.match(value, /^[\w.-]{1,63}$/)
  }
  for (const pod of pods(objects)) assertPod(pod, objects)
  assertSelectors(objects)
}

/** What an object chooses by labels, and among what. */
function choice({ kind, spec }: Any, objects: Any[]): [selector: Any, among: Any[]] | undefined {
  if (kind === 'Deployment' || kind === 'StatefulSet') return [spec.selector.matchLabels, [spec.template]]
  if (kind === 'Service') return [spec.selector, pods(objects)]
  if (kind === 'PodDisruptionBudget') return [spec.selector.matchLabels, pods(objects)]
  if (kind === 'NetworkPolicy') return [spec.podSelector.matchLabels, pods(objects)]
  if (kind === 'ServiceMonitor')
    return [spec.selector.matchLabels, objects.filter((one) => one.kind === 'Service')]
  return undefined
}

function assertSelectors(objects: Any[]): void {
  for (const object of objects) {
    const [selector, among] = choice(object, objects) ?? []
    if (among === undefined) continue
    const { kind, metadata, spec } = object
    const found = among.filter((one) => covers(selector, one.metadata.labels))
    assert.equal(found.length, 1, `${kind} ${metadata.name} selects ${found.length}`)
    if (kind === 'Service') assertPorts(spec.ports, found[0])
    if (kind === 'ServiceMonitor')
      for (const { port } of spec.endpoints)
        assert.ok(found[0].spec.ports.some((one: Any) => one.name === port))
  }
}

function assertPorts(ports: Any[], pod: Any): void {
  const offered = pod.spec.containers.flatMap((one: Any) => one.ports.map(({ name }: Any) => name))
  for (const { targetPort } of ports) assert.ok(offered.includes(targetPort), targetPort)
}

function assertPod({ spec }: Any, objects: Any[]): void {
  assert.equal(spec.enableServiceLinks, false)
  assert.ok(
    objects.some((one) => one.kind === 'ServiceAccount' && one.metadata.name === spec.serviceAccountName),
  )
  assert.equal(spec.securityContext.runAsNonRoot, true)
  assert.equal(spec.securityContext.seccompProfile.type, 'RuntimeDefault')
  const volumes = spec.volumes.map(({ name }: Any) => name)
  const claims = objects.flatMap((one) => one.spec?.volumeClaimTemplates ?? [])
  volumes.push(...claims.map(({ metadata }: Any) => metadata.name))
  for (const container of spec.containers) assertContainer(container, volumes)
  for (const { configMap } of spec.volumes)
    if (configMap !== undefined)
      assert.ok(objects.some((one) => one.kind === 'ConfigMap' && one.metadata.name === configMap.name))
}

function assertContainer(container: Any, volumes: string[]): void {
  assert.equal(container.securityContext.readOnlyRootFilesystem, true)
  assert.equal(container.securityContext.allowPrivilegeEscalation, false)
  assert.deepEqual(container.securityContext.capabilities.drop, ['ALL'])
  assertCommand(container.args[0])
  const mounts = container.volumeMounts.map(({ mountPath }: Any) => mountPath)
  for (const { name } of container.volumeMounts) assert.ok(volumes.includes(name), name)
  for (const { name, value } of container.env) {
    assertSettings([name])
    if (/_FILE$|_CONFIG$/.test(name))
      assert.ok(
        mounts.some((path: string) => value.startsWith(`${path}/`)),
        `${value} is not mounted`,
      )
  }
  const ports = (container.ports ?? []).map(({ name }: Any) => name)
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    if (container[probe] === undefined) continue
    const { path, port } = container[probe].httpGet
    assertOpenRoute(path)
    assert.ok(ports.includes(port), port)
  }
}
