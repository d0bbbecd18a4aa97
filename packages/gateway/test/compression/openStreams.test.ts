import { expect, it } from 'vitest';
import { has } from '../servers.ts';
import { measureStreams } from './openStreams.ts';

it.runIf(has('a port')).each(['zstd', 'gzip', 'br'])(
  'streams in %s take less than 500 kB each while they are open, and nothing when they are dropped',
  async (coding) => {
    const measured = await measureStreams(coding, { open: 100, dropped: 1000 });
    expect(measured.leftOpen).toBe(0);
    expect(measured.heldMegabytes).toBeLessThan(2);
    expect(measured.kilobytesPerStream).toBeLessThan(500);
  },
);
