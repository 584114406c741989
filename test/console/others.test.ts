import { loadTests } from '../support/console.js'

loadTests(new URL('./others/', import.meta.url))
