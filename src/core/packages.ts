import { createRequire } from 'node:module'
import { CatracaError } from './errors.js'

const requireHere = createRequire(import.meta.url)

/**
 * Loads a package that not every installation has, or whose binary may be missing. As CommonJS: bundlers of
 * applications do not look for it, and the packages are then one file each, which loads sooner. `use`: what needs it.
 */
export function requirePackage<Exports>(name: string, use: string): Exports {
  try {
    return requireHere(name) as Exports
  } catch (cause) {
    throw packageMissing(name, use, cause)
  }
}

/** The failure to load a package. */
export function packageMissing(name: string, use: string, cause: unknown): CatracaError {
  const { code, message } = cause as NodeJS.ErrnoException
  const isAbsent = /MODULE_NOT_FOUND$/.test(code ?? '') && message.includes(`'${name}'`)
  // Binaries are optional packages of a package.
  const command = isAbsent ? `npm install ${name}` : 'npm install --include=optional'
  const text = isAbsent
    ? `${use} needs the package ${name}, which is not installed: ${command}`
    : `${use} needs the package ${name}, which cannot be loaded on ${platformName()}: ${firstLine(message)}. Install on this machine: ${command}`
  return new CatracaError('PACKAGE_MISSING', text, { cause, facts: { package: name, command } })
}

/** Binaries of packages differ by these. */
function platformName(): string {
  const { platform, arch, versions } = process
  return `${platform}-${arch} with Node ${versions.node}`
}

const firstLine = (text: string): string => text.split('\n', 1)[0]!.replace(/\.$/, '')
