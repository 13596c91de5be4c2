import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';

import { precompressed } from './precompressed.ts';

/** Where `npm run dev` finds the backend. */
const BACKEND = process.env['LINK_WEB_BACKEND'] ?? 'http://127.0.0.1:8000';

export default defineConfig(({ command }) => ({
  base: command === 'build' ? '/app/' : '/',
  publicDir: false,
  plugins: [precompressed()],
  build: {
    outDir: 'dist/app',
    emptyOutDir: true,
    manifest: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      checks: { bundlerTimings: false },
      output: {
        entryFileNames: '[name]-[hash].js',
        chunkFileNames: '[name]-[hash].js',
        assetFileNames: '[name]-[hash][extname]',
        // What every page needs is one file: each file more is a request before the first content. `xtask web` counts them.
        codeSplitting: { groups: [{ name: 'start', tags: ['$initial'] }] },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(['/api', '/assets', '/docs', '/install.sh', '/install.ps1', '/releases'].map((path) => [path, BACKEND])),
  },
  test: {
    environment: 'jsdom',
    setupFiles: ['tests/setup.ts'],
    include: ['tests/**/*.test.{ts,tsx}'],
    // A test waits for the page more than it computes. With two for each processor, the long answers come near their deadline.
    maxWorkers: availableParallelism() + 1,
    environmentOptions: { jsdom: { url: 'http://127.0.0.1/devices' } },
  },
}));
