import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { api, type SampleWaveAnswer } from '../../../api/client.js'
import { useAction } from '../../../data/use-action.js'
import { Panel } from '../../../parts/panel.js'
import { ProblemView } from '../../../parts/problem.js'
import { useSignedIn } from '../../../session/store.js'
import { useFormat, useTexts } from '../../../texts/language.js'
import { ExportMenu } from '../export-menu.js'

/** Who of the base list is in now: some of them, or all as a file. */
export function SamplePanel({ id }: { id: string }) {
  const { waves } = useTexts()
  const texts = waves.sample
  const format = useFormat()
  const { can } = useSignedIn()
  const [found, setFound] = useState<SampleWaveAnswer>()
  const { run, running, problem } = useAction(async () => setFound(await api.sampleWave({ id })))
  return (
    <Panel title={texts.title} weight="quiet">
      <Group gap="xs">
        <Button variant="default" loading={running} onClick={() => void run()}>
          {texts.look}
        </Button>
        {can('admin') && <ExportMenu id={id} />}
      </Group>
      <ProblemView problem={problem} />
      <div role="status" className="sample">
        {found !== undefined && (
          <>
            <p className="mono">{found.items.map(({ customerId }) => customerId).join(', ')}</p>
            <p className="detail">
              {found.items.length === 0
                ? texts.nobody(format.number(found.examined))
                : texts.of(format.number(found.items.length), format.number(found.examined))}
            </p>
          </>
        )}
      </div>
    </Panel>
  )
}
