import { petStoreConformance } from './petStoreConformance.ts';

// The suite also runs in `mongodb/`, on the other store, and in `bun.test.ts`, on another adapter and runtime.
petStoreConformance('the process, from its sources, on the embedded store');
