import { Button, Checkbox, Group, NativeSelect, Stack } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { type ApiProblem, fieldProblem } from '../../api/client.js'
import { serverNow } from '../../api/server-clock.js'
import { ProblemView } from '../../parts/problem.js'
import type { Scope } from '../../session/store.js'
import { useFormat, useTexts } from '../../texts/language.js'

/** Usual keys by what they are for. */
const PRESETS = {
  checks: ['check'],
  monitor: ['check', 'read'],
  guards: ['check', 'limits', 'idempotency', 'locks', 'cache', 'codes:issue', 'codes:verify', 'tokens:check'],
  admin: ['admin'],
} as const satisfies Record<string, readonly Scope[]>
const PRESET_NAMES = Object.keys(PRESETS) as (keyof typeof PRESETS)[]

const presetOf = (scopes: readonly string[]): string =>
  PRESET_NAMES.find((name) => PRESETS[name].toSorted().join() === scopes.toSorted().join()) ?? ''

const DAY_MS = 86_400_000
const LIVES = [7, 30, 90, 365] as const
const NEVER = 'never'

export interface Grant {
  scopes: string[]
  /** Days from now, or that the key never expires. Absent: as it is, which for a new key is never. */
  life?: string
}

/** The fields of a request. `expiresAt` is null where an expiry is to be removed. */
export function bodyOf({ scopes, life }: Grant) {
  const isDays = life !== undefined && life !== NEVER
  return {
    scopes: scopes as Scope[],
    ...(isDays && { expiresAt: new Date(serverNow() + Number(life) * DAY_MS).toISOString() }),
  }
}

export const isEndless = ({ life }: Grant): boolean => life === NEVER

export interface KeyFormProps {
  grant: Grant
  onChange(grant: Grant): void
  action: { run(): Promise<unknown>; running: boolean; problem: ApiProblem | undefined }
  label: string
  onCancel(): void
  /** The first key must be able to create others. */
  isFirst?: boolean
  /** When the key expires now. */
  expiresAt?: string | undefined
  children?: ReactNode
}

/** What a key may do, and how long. */
export function KeyForm(props: KeyFormProps) {
  const { grant, onChange, action, label, onCancel, isFirst = false, expiresAt, children } = props
  const { common, settings: texts } = useTexts()
  const format = useFormat()
  const { scopes, life } = grant
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    void action.run()
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        {children}
        {!isFirst && (
          <NativeSelect
            label={texts.preset}
            value={presetOf(scopes)}
            data={[
              ...PRESET_NAMES.map((value) => ({ value, label: texts.presets[value] })),
              { value: '', label: texts.ownScopes },
            ]}
            onChange={(event) => {
              const preset = PRESET_NAMES.find((name) => name === event.currentTarget.value)
              if (preset !== undefined) onChange({ ...grant, scopes: [...PRESETS[preset]] })
            }}
          />
        )}
        <Checkbox.Group
          label={texts.scopes}
          value={scopes}
          onChange={(chosen) => onChange({ ...grant, scopes: chosen })}
          error={fieldProblem(action.problem, 'scopes')}
        >
          <div className="scope-grid">
            {(Object.keys(texts.scopesMeaning) as Scope[]).map((scope) => (
              <Checkbox
                key={scope}
                value={scope}
                label={scope}
                description={texts.scopesMeaning[scope]}
                disabled={isFirst && scope === 'admin'}
              />
            ))}
          </div>
        </Checkbox.Group>
        {!isFirst && (
          <NativeSelect
            label={texts.expires}
            description={texts.expiresHint}
            value={life ?? (expiresAt === undefined ? NEVER : '')}
            data={[
              ...(expiresAt === undefined ? [] : [{ value: '', label: format.dateTime(expiresAt) }]),
              { value: NEVER, label: texts.never },
              ...LIVES.map((days) => ({ value: String(days), label: texts.inDays(format.number(days)) })),
            ]}
            onChange={(event) => {
              const { value } = event.currentTarget
              onChange({ scopes, ...(value !== '' && { life: value }) })
            }}
            error={fieldProblem(action.problem, 'expiresAt')}
          />
        )}
        <ProblemView problem={action.problem} fields={['name', 'scopes', 'expiresAt']} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onCancel}>
            {common.cancel}
          </Button>
          <Button type="submit" loading={action.running}>
            {label}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
