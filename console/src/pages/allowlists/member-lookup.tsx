import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { ApiProblem, api, fieldProblem, type Member } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { Icon } from '../../parts/icons.js'
import { ProblemView } from '../../parts/problem.js'
import { State } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { Expiry, isExpired } from './expiry.js'
import { Fact } from './facts.js'

export interface MemberLookupProps {
  id: string
  changes: number
  /** What is typed, also before it is looked up. */
  onTyped(typed: string): void
  onAdd(customer: string): void
  onRemove(customer: string): void
}

/** Finds one customer among millions. The id is not put in the URL: it may be a tax number. */
export function MemberLookup({ id, changes, onTyped, onAdd, onRemove }: MemberLookupProps) {
  const { allowlists } = useTexts()
  const texts = allowlists.members
  const [typed, setTyped] = useState('')
  const [asked, setAsked] = useState<{ customer: string; round: number }>()
  const [missing, setMissing] = useState(false)
  const customer = asked?.customer ?? ''
  const query = useQuery(
    `${customer} ${asked?.round} ${changes}`,
    async (signal) => ({ member: await memberOrNone(id, customer, signal) }),
    { enabled: customer !== '' },
  )
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const next = typed.trim()
    setMissing(next === '')
    setAsked(next === '' ? undefined : { customer: next, round: (asked?.round ?? 0) + 1 })
  }
  return (
    <div className="member-lookup">
      <form onSubmit={submit} noValidate>
        <TextInput
          label={texts.find}
          placeholder={texts.findHint}
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value)
            onTyped(event.currentTarget.value)
          }}
          error={missing ? texts.missing : fieldProblem(query.problem, 'customerId')}
          autoComplete="off"
          spellCheck={false}
        />
        <Button type="submit" variant="default" leftSection={<Icon name="search" size={16} />}>
          {texts.look}
        </Button>
      </form>
      <ProblemView problem={query.problem} fields={['customerId']} />
      <div role="status" aria-live="polite">
        {query.data !== undefined && (
          <Found customer={customer} member={query.data.member} onAdd={onAdd} onRemove={onRemove} />
        )}
      </div>
    </div>
  )
}

async function memberOrNone(
  id: string,
  customerId: string,
  signal: AbortSignal,
): Promise<Member | undefined> {
  try {
    return await api.getMember({ id, customerId }, { signal })
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return undefined
    throw error
  }
}

interface FoundProps extends Pick<MemberLookupProps, 'onAdd' | 'onRemove'> {
  customer: string
  member: Member | undefined
}

function Found({ customer, member, onAdd, onRemove }: FoundProps) {
  const { allowlists } = useTexts()
  const texts = allowlists.members
  const { can } = useSignedIn()
  if (member === undefined) {
    return (
      <div className="member-found">
        <State kind="neutral">{texts.notThere(customer)}</State>
        {can('admin') && (
          <Button size="compact-sm" variant="default" onClick={() => onAdd(customer)}>
            {texts.addThis(customer)}
          </Button>
        )}
      </div>
    )
  }
  return (
    <div className="member-found">
      {isExpired(member.expiresAt) ? (
        <State kind="bad">{texts.hasExpired(member.customerId)}</State>
      ) : (
        <State kind="good">{texts.isThere(member.customerId)}</State>
      )}
      {can('admin') && (
        <Button size="compact-sm" variant="default" onClick={() => onRemove(member.customerId)}>
          {texts.removeOne(member.customerId)}
        </Button>
      )}
      <dl className="list-facts list-facts-plain">
        <Fact name={texts.addedAt}>
          <Time value={member.addedAt} />
        </Fact>
        <Fact name={texts.addedBy}>{member.addedBy ?? '–'}</Fact>
        <Fact name={texts.expiresAt}>
          <Expiry at={member.expiresAt} />
        </Fact>
        {member.metadata !== undefined && (
          <Fact name={texts.metadata}>
            <span className="mono">{JSON.stringify(member.metadata)}</span>
          </Fact>
        )}
      </dl>
    </div>
  )
}
