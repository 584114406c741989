import { Button, Group, Modal, Skeleton, Stack } from '@mantine/core'
import { type Allowlist, api } from '../../../api/client.js'
import { useAction } from '../../../data/use-action.js'
import { useQuery } from '../../../data/use-query.js'
import { announce } from '../../../parts/announcer.js'
import { ProblemView } from '../../../parts/problem.js'
import { useTexts } from '../../../texts/language.js'
import { etag, SaveProblem } from '../save-problem.js'
import { Difference } from './difference.js'
import { sameRule } from './draft.js'
import { isShut, type Rule, STRATEGIES } from './rule.js'
import type { Words } from './use-words.js'

const PAGES = 5

interface Before {
  rule: Rule
  at: string
  who: string
}

export interface ResumeDialogProps {
  list: Allowlist
  rule: Rule
  now: number
  words: Words
  opened: boolean
  onClose(): void
  onChanged(): void
}

/** Brings the rule back that the audit remembers from before the pause. */
export function ResumeDialog(props: ResumeDialogProps) {
  const { waves, common } = useTexts()
  return (
    <Modal
      opened={props.opened}
      onClose={props.onClose}
      title={waves.resume.title}
      size="xl"
      closeButtonProps={{ 'aria-label': common.close }}
    >
      {props.opened && <Resume {...props} />}
    </Modal>
  )
}

function Resume({ list, rule, now, words, onClose, onChanged }: ResumeDialogProps) {
  const { waves, common } = useTexts()
  const texts = waves.resume
  const query = useQuery(`${list.id} ${list.version}`, async (signal) => ({
    before: await ruleBefore(list.id, rule, now, signal),
  }))
  const before = query.data?.before
  const { run, running, problem } = useAction(async () => {
    await api.updateAllowlist({
      id: list.id,
      ifMatch: etag(list.version),
      body: { config: before!.rule },
    })
    announce(texts.resumed)
    onClose()
    onChanged()
  })
  const reload = (): void => {
    onClose()
    onChanged()
  }
  return (
    <Stack gap="md">
      {query.loading && <Skeleton height={80} radius="md" />}
      <ProblemView problem={query.problem} retry={query.reload} />
      {query.data !== undefined && before === undefined && <div className="notice">{texts.unknown}</div>}
      {before !== undefined && (
        <div>
          <p>{texts.text(words.moment(Date.parse(before.at)), before.who)}</p>
          <Difference before={rule} after={before.rule} now={now} words={words} />
          {before.rule.ramp !== undefined && <p className="detail">{texts.passed}</p>}
        </div>
      )}
      <SaveProblem problem={problem} onReload={reload} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {common.cancel}
        </Button>
        <Button disabled={before === undefined} loading={running} onClick={() => void run()}>
          {texts.confirm}
        </Button>
      </Group>
    </Stack>
  )
}

/** The rule that the present one took the place of, when it is whole and lets somebody in. */
async function ruleBefore(
  id: string,
  rule: Rule,
  now: number,
  signal: AbortSignal,
): Promise<Before | undefined> {
  let cursor: string | undefined
  for (let page = 0; page < PAGES; page++) {
    const found = await api.listAudit(
      { target: `allowlist:${id}`, action: 'allowlist.update', limit: 50, cursor },
      { signal },
    )
    for (const { at, actor, before, after } of found.items) {
      const [was, became] = [configOf(before), configOf(after)]
      if (became === undefined) continue
      const isIt = was !== undefined && sameRule(became, rule) && !isShut(was, now)
      return isIt ? { rule: was, at, who: actor.name } : undefined
    }
    cursor = found.nextCursor
    if (cursor === undefined) return undefined
  }
  return undefined
}

/** Undefined when the entry is of something else, or too large to have been kept whole. */
function configOf(fields: unknown): Rule | undefined {
  const config = (fields as { config?: Rule } | undefined)?.config
  const isWhole =
    config !== undefined &&
    STRATEGIES.includes(config.strategy) &&
    [config.ramp, config.customerIds, config.exclude].every(
      (list) => list === undefined || Array.isArray(list),
    )
  return isWhole ? config : undefined
}
