import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { readExceptions, runConformance, type Revision } from './conformance.ts';
import { serveInTest } from './serveTools.ts';
import { createToolGateway } from './toolRouter.ts';

it.each<Revision>(['2026-07-28', '2025-11-25'])(
  'the suite of MCP passes with the requirements of %s, except for what is not about tools',
  async (revision) => {
    needs('a port');
    const { server } = await serveInTest(await createToolGateway());
    const exceptions = await readExceptions(revision);
    const { code, output } = await runConformance(`${server.origin}/mcp`, revision, exceptions);
    expect([code, output.includes('Unexpected failures')]).toEqual([0, false]);
    expect(output).toMatch(/✓ tools-list: [1-9]/);
    expect(output).toMatch(/✓ dns-rebinding-protection: [1-9]/);
  },
);
