import { writePage } from '../src/docs/writePage.ts';

// The docs page of the published package: nobody who installs it needs Scalar's own.
await writePage(new URL('../dist/docs/page/', import.meta.url));
