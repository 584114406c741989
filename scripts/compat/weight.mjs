// What `npm install catraca` brings, and what happens to those who lack a part of it.
import assert from 'node:assert/strict'
import { readdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { emptyProject, node } from './project.mjs'

const MOST_MEGABYTES = 75
const MOST_PACKAGES = 110

let folder

export function weight(tarball) {
  folder = emptyProject('empty', [tarball])
  const files = readdirSync(join(folder, 'node_modules'), { recursive: true, withFileTypes: true })
  const paths = files.map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  const megabytes = paths.reduce((sum, path) => sum + statSync(path).size, 0) / 1024 ** 2
  const packages = paths.filter((path) => /node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path)).length
  assert.ok(megabytes <= MOST_MEGABYTES, `${megabytes.toFixed(1)} MB`)
  assert.ok(packages <= MOST_PACKAGES, `${packages} packages`)
  return `${megabytes.toFixed(1)} MB, ${packages} packages`
}

const OPEN = `
  const { openCatraca, isCatracaError } = require('catraca')
  openCatraca({ store: process.argv[1] }).then(
    (catraca) => catraca.close().then(() => console.log('opened')),
    (error) => console.log(isCatracaError(error, 'PACKAGE_MISSING'), error.facts.command),
  )`
const open = (store) => node(['-e', OPEN, store], { cwd: folder }).trim()

export function missingPackages() {
  assert.equal(open('memory:'), 'opened')
  const store = 'dynamodb://us-east-1/Allowlists'
  assert.equal(open(store), 'true npm install @aws-sdk/client-dynamodb')
  const catraca = join(folder, 'node_modules', 'catraca', 'bin', 'catraca.js')
  const said = node([catraca, 'allowlist', 'list', '--store', store], { cwd: folder, status: 1 })
  assert.match(said, /npm install @aws-sdk\/client-dynamodb$/m)
  const serving = ['serve', '--port', '0', '--grpc-port', '0', '--store', 'memory:']
  assert.match(node([catraca, ...serving], { cwd: folder, status: 1 }), /npm install @grpc\/grpc-js$/m)
}

export function missingBinary() {
  const binaries = join(folder, 'node_modules', '@lmdb')
  renameSync(binaries, `${binaries}-away`)
  assert.equal(open('memory:'), 'true npm install --include=optional')
  renameSync(`${binaries}-away`, binaries)
}
