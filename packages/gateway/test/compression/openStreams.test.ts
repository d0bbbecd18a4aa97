import { expect, it, vi } from 'vitest';
import { has } from '../servers.ts';
import { measureStreams } from './openStreams.ts';

// Starts a process, possibly on a machine without an idle core.
vi.setConfig({ testTimeout: 120_000 });

it.runIf(has('a port')).each(['zstd', 'gzip', 'br'])(
  'streams in %s take less than 500 kB each while they are open, and nothing when they are dropped',
  async (coding) => {
    const measured = await measureStreams(coding, { open: 100, dropped: 1000 });
    expect(measured.leftOpen).toBe(0);
    expect(measured.heldMegabytes).toBeLessThan(2);
    expect(measured.kilobytesPerStream).toBeLessThan(500);
  },
);
