import { readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type Check, type CheckResult, ok, problem, skipped, warning } from '../../core/diagnosis.js'

const LEAST_NODE = [20, 19] as const
const ENOUGH_FILES = 4096
const TOO_FEW_FILES = 256
const GIB = 1024 ** 3

interface MachineFacts {
  nodeVersion: string
  /** Directories in which imports are spooled and sorted. */
  spoolDirectories: readonly string[]
}

export const readMachineFacts = (...directories: (string | undefined)[]): MachineFacts => ({
  nodeVersion: process.versions.node,
  spoolDirectories: [...new Set(directories.map((directory) => directory ?? tmpdir()))],
})

const nodeCheck: Check<MachineFacts> = {
  id: 'machine.node',
  expects: `Node ${LEAST_NODE.join('.')} or newer.`,
  remedy: 'Install a newer Node.',
  run({ nodeVersion }): CheckResult {
    const [major = 0, minor = 0] = nodeVersion.split('.').map(Number)
    const isNew = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])
    return isNew ? ok(nodeVersion) : problem(nodeVersion)
  },
}

const diskCheck: Check<MachineFacts> = {
  id: 'machine.disk',
  expects: 'At least 1 GiB is free for the bodies and sorted runs of imports.',
  remedy: 'Make room, or set `server.spoolDir` and `import.spoolDir` to a larger disk.',
  run: ({ spoolDirectories }) =>
    spoolDirectories.map((directory): CheckResult => {
      try {
        const { bavail, bsize } = statfsSync(directory)
        const found = `${((bavail * bsize) / GIB).toFixed(1)} GiB are free in ${directory}`
        return bavail * bsize < GIB ? warning(found) : ok(found)
      } catch {
        return problem(`${directory} cannot be read`)
      }
    }),
}

const fileCheck: Check<MachineFacts> = {
  id: 'machine.files',
  expects: `A process may have ${ENOUGH_FILES} files and connections open.`,
  remedy: 'Raise the limit: `ulimit -n`, `LimitNOFILE=` of systemd, `ulimits` of the container.',
  run(): CheckResult {
    const most = mostFiles()
    if (most === undefined) return skipped('this system does not report it')
    const found = `at most ${most} at once`
    if (most < TOO_FEW_FILES) return problem(found)
    return most < ENOUGH_FILES ? warning(found) : ok(found)
  },
}

function mostFiles(): number | undefined {
  try {
    const line = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return line === null ? undefined : line[1] === 'unlimited' ? Number.POSITIVE_INFINITY : Number(line[1])
  } catch {
    return undefined
  }
}

export const MACHINE_CHECKS: readonly Check<MachineFacts>[] = [nodeCheck, diskCheck, fileCheck]
