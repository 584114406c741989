import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.js'
import { type Config, SETTINGS } from '../../config/schema.js'
import {
  CONFIG_FILE,
  CONFIG_FILE_ENV,
  emptyFindings,
  environmentNames,
  type Findings,
  readEnvironment,
  readFile,
} from '../../config/sources.js'
import {
  type Check,
  type CheckResult,
  isLoopbackAddress,
  type KeysFound,
  ok,
  problem,
  skipped,
  warning,
} from '../../core/diagnosis.js'
import { type CatracaError, isCatracaError } from '../../core/errors.js'
import { storeFacts } from '../../engines/registry.js'
import { usesCodes } from '../settings.js'

/** The valid part of the configuration, and its problems. */
interface ConfigFacts {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  configFile: string | undefined
  /** Undefined when a setting is wrong. */
  config: Config | undefined
  failure: CatracaError | undefined
  /** API keys in the store, when known. */
  apiKeys?: KeysFound
}

type Sources = Pick<ConfigFacts, 'env' | 'cwd' | 'configFile'>

export function readConfiguration(sources: Sources, flags: Record<string, string | undefined>): ConfigFacts {
  const { cwd, configFile } = sources
  // Unknown variables have their own finding, and must not hide other findings.
  const env = Object.fromEntries(Object.entries(sources.env).filter(([name, value]) => !isStray(name, value)))
  try {
    return { ...sources, config: loadConfig({ flags, configFile, env, cwd }), failure: undefined }
  } catch (error) {
    if (!isCatracaError(error)) throw error
    return { ...sources, config: undefined, failure: error }
  }
}

function isStray(name: string, value: string | undefined): boolean {
  if (!name.startsWith('CATRACA_') || value === undefined || name === CONFIG_FILE_ENV) return false
  return value === '' || !environmentNames().has(name)
}

const settingsCheck: Check<ConfigFacts> = {
  id: 'config.settings',
  expects: 'Every setting, in every source, is valid.',
  remedy: 'Correct the setting: docs/reference/config.md lists the allowed values.',
  run({ failure }): CheckResult[] {
    if (failure === undefined) return [ok('all settings can be read')]
    const others = (failure.errors ?? []).map(({ path, message }) => `${path} ${message}`)
    return [failure.message, ...others].map((found) => problem(found))
  },
}

const variableCheck: Check<ConfigFacts> = {
  id: 'config.variables',
  expects: 'Every variable CATRACA_… is a setting.',
  remedy: 'Remove the variable or correct its name: no command and no server starts with it.',
  run({ env }): CheckResult[] {
    const stray = Object.entries(env).filter(([name, value]) => isStray(name, value))
    const { problems } = strayFindings(Object.fromEntries(stray))
    if (problems.length === 0) return [ok('no variable is unknown')]
    return problems.map(({ source, message }) => problem(`${source} ${message}`))
  },
}

function strayFindings(env: Record<string, string | undefined>): Findings {
  const findings = emptyFindings()
  readEnvironment(findings, env)
  return findings
}

const secretFileCheck: Check<ConfigFacts> = {
  id: 'config.secret-files',
  expects: 'Files that hold secrets can be read by nobody but their owner and group.',
  remedy: 'chmod 600 the file (640 if the group must read it). Change the secret if others may have read it.',
  run(context): CheckResult | CheckResult[] {
    const files = [...secretFiles(context)]
    const verdicts = files.flatMap((path): CheckResult[] => {
      const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
      return (mode & 0o007) === 0 ? [] : [problem(`every user of this machine can read ${path}`)]
    })
    if (verdicts.length > 0) return verdicts
    return ok(files.length === 0 ? 'no file holds a secret' : `${files.length} files, none open to others`)
  },
}

/** The files that settings name, and the configuration file if it contains a secret. */
function secretFiles({ env, cwd, configFile }: ConfigFacts): Set<string> {
  const named = configFile ?? env[CONFIG_FILE_ENV]
  const findings = emptyFindings()
  readEnvironment(findings, env)
  readFile(findings, named, cwd)
  const files = new Set<string>()
  for (const [path, readings] of findings.found) {
    for (const { inFile, kind, value } of readings) {
      const isSecret = SETTINGS.get(path)?.secret === true || hasPassword(path, value)
      if (inFile && typeof value === 'string') files.add(resolve(cwd, value))
      else if (kind === 'file' && isSecret) files.add(resolve(cwd, named ?? CONFIG_FILE))
    }
  }
  return files
}

function hasPassword(path: string, value: unknown): boolean {
  if (path !== 'store' && !path.startsWith('stores.')) return false
  try {
    return storeFacts(String(value)).hasPassword ?? false
  } catch {
    return false
  }
}

const LOCKED_REMEDY =
  'Make a key with `catraca key create --store URL`, or serve this machine without keys: `catraca key unlock --store URL`.'

const keyCheck: Check<ConfigFacts> = {
  id: 'config.keys',
  expects: 'A server that other machines can reach requires API keys.',
  remedy:
    'Make a key (`catraca key create`, or `catraca key generate` for CATRACA_KEYS), or listen on 127.0.0.1.',
  run({ config, apiKeys }): CheckResult {
    if (config === undefined) return skipped('the settings cannot be read')
    const { host } = config.server
    const keys = config.keys.read().length + (apiKeys?.count ?? 0)
    if (keys > 0) return ok(`${keys} keys; it listens on ${host}`)
    if (apiKeys?.isLocked) return problem('the last key was revoked: every call is refused', LOCKED_REMEDY)
    if (isLoopbackAddress(host)) return ok(`no key, and only this machine can reach ${host}`)
    return apiKeys === undefined
      ? warning(`it listens on ${host}, and it is not known whether the store holds a key`)
      : problem(`it listens on ${host}, and there is no key: the server does not start`)
  },
}

const LEAST_PEPPER = 16

const pepperCheck: Check<ConfigFacts> = {
  id: 'config.pepper',
  expects: 'One-time codes have a long pepper.',
  remedy: 'Set CATRACA_OTP_PEPPER_FILE to a file with a long random text, the same for all processes.',
  run({ config }): CheckResult {
    if (config === undefined) return skipped('the settings cannot be read')
    const { codes, stores, store } = config
    const pepper = codes.pepper.read()
    if (pepper !== undefined) {
      return pepper.length < LEAST_PEPPER
        ? warning(`it has fewer than ${LEAST_PEPPER} characters`)
        : ok('it is set')
    }
    if (storeFacts(stores.codes ?? store).keepsSecrets) return ok('the store generates and keeps one')
    return usesCodes(config)
      ? problem('none, but one-time codes are in use: the server does not start')
      : ok('none, so one-time codes are disabled')
  },
}

/** Checks for every machine that runs commands. */
export const SOURCE_CHECKS: readonly Check<ConfigFacts>[] = [settingsCheck, variableCheck, secretFileCheck]
/** Checks for a machine that serves. */
export const SERVING_CHECKS: readonly Check<ConfigFacts>[] = [keyCheck, pepperCheck]
