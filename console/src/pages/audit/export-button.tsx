import { Button } from '@mantine/core'
import { api, type ExportAuditInput } from '../../api/client.js'
import { useAction } from '../../data/use-action.js'
import { announce } from '../../parts/announcer.js'
import { Icon } from '../../parts/icons.js'
import { ProblemView } from '../../parts/problem.js'
import { useTexts } from '../../texts/language.js'
import { download } from '../allowlists/download.js'

const NAME = 'audit.csv'

/** The changes that match, as CSV for a spreadsheet. */
export function ExportButton({ input }: { input: ExportAuditInput }) {
  const { audit: texts, allowlists } = useTexts()
  const { run, running, problem } = useAction(async () => {
    const response = await api.exportAudit(input)
    download(await response.blob(), NAME)
    announce(allowlists.export.done(NAME))
  })
  return (
    <>
      <Button
        variant="default"
        loading={running}
        leftSection={<Icon name="download" size={16} />}
        onClick={() => void run()}
      >
        {texts.export}
      </Button>
      <ProblemView problem={problem} />
    </>
  )
}
