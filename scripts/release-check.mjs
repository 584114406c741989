// What must hold before a version is published: `npm run release:check`. CONTRIBUTING says how a version is made.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { refusals } from './release-refusals.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')

function refuse(message) {
  console.error(`not ready for a release: ${message}`)
  process.exit(1)
}

const LOCKS = ['package-lock.json', 'test/compat/package-lock.json', 'test/emulators/package-lock.json']
const { version } = JSON.parse(read('package.json'))
const git = spawnSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' })
if (git.status !== 0) refuse(`git status failed\n${git.stderr}`)
const [refusal] = refusals({
  version,
  status: git.stdout,
  changelog: read('CHANGELOG.md'),
  locks: Object.fromEntries(LOCKS.map((name) => [name, read(name)])),
})
if (refusal !== undefined) refuse(refusal)
for (const script of ['test', 'test:compat']) {
  const run = spawnSync('npm', ['run', script], { cwd: root, stdio: 'inherit' })
  if (run.status !== 0) refuse(`npm run ${script} failed`)
}
console.log(`version ${version} can be published`)
