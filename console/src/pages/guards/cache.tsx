import { Autocomplete } from '@mantine/core'
import { useState } from 'react'
import { api, type ListCachedAnswer } from '../../api/client.js'
import { useTyped } from '../../data/use-lists.js'
import { useQuery } from '../../data/use-query.js'
import type { Column } from '../../parts/data-table.js'
import { Page } from '../../parts/page.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { type Bulk, Explorer } from './explorer.js'
import { useHash } from './lookup.js'

type Entry = ListCachedAnswer['items'][number]

export default function CachePage() {
  const { guards } = useTexts()
  const texts = guards.cache
  const format = useFormat()
  const [given, change] = useHash()
  const [typed, setTyped] = useState(() => given.get('space') ?? '')
  const space = useTyped(typed)
  const spaces = useQuery('spaces', async (signal) =>
    Object.keys((await api.cacheStats({}, { signal })).spaces),
  )
  const age = (ms: number | undefined): string => (ms === undefined ? '–' : format.duration(ms))
  const columns: Column<Entry>[] = [
    { name: 'key', header: texts.key, cell: ({ key }) => <span className="mono">{key}</span> },
    { name: 'age', header: guards.explore.age, cell: ({ ageMs }) => age(ageMs) },
    {
      name: 'left',
      header: texts.left,
      cell: ({ leftMs }) => (leftMs === undefined ? texts.never : format.duration(leftMs)),
    },
    {
      name: 'size',
      header: texts.size,
      align: 'right',
      cell: ({ sizeBytes }) => (sizeBytes === undefined ? '–' : format.bytes(sizeBytes)),
    },
  ]
  const bulk: Bulk<Entry> = {
    label: texts.forget,
    title: texts.forgetTitle,
    text: texts.forgetText,
    done: texts.forgotten,
    act: ({ key }, call) => api.deleteCached({ space, key }, call),
  }
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Explorer
        title={space === '' ? texts.space : space}
        id={space}
        enabled={space !== ''}
        empty={space === '' ? texts.chooseSpace : guards.explore.nothing}
        columns={columns}
        hasAges={false}
        fields={
          <Autocomplete
            label={texts.space}
            placeholder={texts.spaceHint}
            data={spaces.data ?? []}
            value={typed}
            onChange={(value) => {
              setTyped(value)
              change({ space: value.trim() }, 'replace')
            }}
            spellCheck={false}
          />
        }
        list={({ state: _, olderThanSeconds: __, ...asking }, signal) =>
          api.listCached({ space, ...asking }, { signal })
        }
        rowKey={({ key }) => key}
        bulk={bulk}
      />
    </Page>
  )
}
