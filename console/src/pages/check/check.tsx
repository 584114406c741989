import { Button, TagsInput, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { asFound, useLists } from '../../data/use-lists.js'
import { Icon } from '../../parts/icons.js'
import { Page } from '../../parts/page.js'
import { Panel } from '../../parts/panel.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { AllLists } from './all-lists.js'
import { Answer } from './answer.js'
import { checkPath } from './check-path.js'
import { CustomerLists } from './customer-lists.js'

export default function CheckPage() {
  const { check: texts } = useTexts()
  const { can } = useSignedIn()
  const [search] = useSearchParams()
  const [, navigate] = useLocation()
  const customer = search.get('customer') ?? ''
  const lists = splitLists(search.get('lists') ?? '')
  // Submitting the same check again must run it again.
  const [round, setRound] = useState(0)
  const ask = (nextCustomer: string, nextLists: readonly string[]): void => {
    navigate(checkPath(nextCustomer, nextLists))
    setRound(round + 1)
  }
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Question customer={customer} lists={lists} onAsk={ask} />
      {customer !== '' && lists.length > 0 && (
        <Answer key={round} customer={customer} lists={lists} explain={can('read')} />
      )}
      {customer !== '' && can('read') && (
        <CustomerLists key={customer} customer={customer} onUse={(ids) => ask(customer, ids)} />
      )}
      {customer !== '' && can('read') && <AllLists customer={customer} />}
    </Page>
  )
}

function splitLists(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((id) => id !== ''))]
}

interface QuestionProps {
  customer: string
  lists: readonly string[]
  onAsk(customer: string, lists: readonly string[]): void
}

function Question({ customer, lists, onAsk }: QuestionProps) {
  const { check: texts } = useTexts()
  const { can } = useSignedIn()
  const asked = lists.join(',')
  const [typed, setTyped] = useState(customer)
  const [chosen, setChosen] = useState<string[]>([...lists])
  const [search, setSearch] = useState('')
  const found = useLists(search, can('read'))
  const [errors, setErrors] = useState<{ customer?: string; lists?: string }>({})
  useEffect(() => setTyped(customer), [customer])
  useEffect(() => setChosen(splitLists(asked)), [asked])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const id = typed.trim()
    const ids = splitLists([...chosen, search].join(','))
    // Without the scope to read the lists of a customer, a check without lists is not possible.
    const missing = {
      ...(id === '' ? { customer: texts.customerMissing } : {}),
      ...(ids.length === 0 && !can('read') ? { lists: texts.listsMissing } : {}),
    }
    setErrors(missing)
    if (Object.keys(missing).length === 0) onAsk(id, ids)
  }
  return (
    <Panel>
      <form className="question" onSubmit={submit} noValidate>
        <TextInput
          label={texts.customer}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          error={errors.customer}
          autoComplete="off"
          spellCheck={false}
        />
        <TagsInput
          label={texts.lists}
          description={texts.listsHint}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={chosen}
          onChange={(values) => setChosen(splitLists(values.join(',')))}
          searchValue={search}
          onSearchChange={setSearch}
          data={found.map(({ id }) => id).filter((id) => !chosen.includes(id))}
          renderOption={({ option: { value } }) => (
            <span className="list-option">
              {found.find(({ id }) => id === value)?.name ?? value}{' '}
              <span className="detail mono">{value}</span>
            </span>
          )}
          filter={asFound}
          maxTags={100}
          error={errors.lists}
          autoComplete="off"
          spellCheck={false}
        />
        <Button type="submit" leftSection={<Icon name="question" />}>
          {texts.ask}
        </Button>
      </form>
    </Panel>
  )
}
