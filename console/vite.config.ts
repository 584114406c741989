import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** `npx vite console` serves the sources with hot reload, and asks a server on port 8080 for everything else. */
export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: {
    target: 'es2022',
    // A data: address in a style sheet would need a wider policy than the server gives.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  server: {
    host: '127.0.0.1',
    proxy: { '^/(?!console)': { target: 'http://127.0.0.1:8080' } },
  },
})
