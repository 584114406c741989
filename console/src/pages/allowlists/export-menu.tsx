import { Button, Menu } from '@mantine/core'
import { api } from '../../api/client.js'
import { useAction } from '../../data/use-action.js'
import { announce } from '../../parts/announcer.js'
import { Icon } from '../../parts/icons.js'
import { ProblemView } from '../../parts/problem.js'
import { useTexts } from '../../texts/language.js'
import { download } from './download.js'

const FORMATS = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const

/** Fetched with the key in a header and then passed to the browser: a download link would have to contain the key. */
export function ExportMenu({ id }: { id: string }) {
  const { allowlists } = useTexts()
  const texts = allowlists.export
  const { run, running, problem } = useAction(async (format: keyof typeof FORMATS) => {
    announce(texts.preparing)
    // Users open CSV in a spreadsheet, which must not run formulas of it.
    const safely = format === 'csv' ? ({ spreadsheet: '1' } as const) : {}
    const response = await api.exportMembers({ id, accept: FORMATS[format], ...safely })
    const name = `${id}.${format}`
    download(await response.blob(), name)
    announce(texts.done(name))
  })
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <Button variant="default" loading={running} leftSection={<Icon name="download" size={16} />}>
            {texts.open}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => void run('csv')}>{texts.csv}</Menu.Item>
          <Menu.Item onClick={() => void run('ndjson')}>{texts.ndjson}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ProblemView problem={problem} />
    </>
  )
}
