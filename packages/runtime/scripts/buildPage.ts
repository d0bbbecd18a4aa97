import { writePage } from '../src/docs/writePage.ts';

// Builds the docs page into the published package, so that users need not install @scalar/api-reference.
await writePage(new URL('../dist/docs/page/', import.meta.url));
