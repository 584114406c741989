import { TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { CallOptions } from '../../../src/client/operation.js'
import { useTexts } from '../texts/language.js'

export interface ReasonInput {
  field: ReactNode
  /** For the call that makes the change. */
  call: CallOptions
  reset(): void
}

/** Why a change is made; the audit keeps it. */
export function useReason(): ReasonInput {
  const { common } = useTexts()
  const [reason, setReason] = useState('')
  const field = (
    <TextInput
      label={common.reason}
      description={common.reasonHint}
      value={reason}
      onChange={(event) => setReason(event.currentTarget.value)}
      maxLength={500}
      autoComplete="off"
    />
  )
  const given = reason.trim()
  return { field, call: given === '' ? {} : { reason: given }, reset: () => setReason('') }
}
