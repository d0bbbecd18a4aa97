import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clients, writeProject } from './project.ts';
import { checkTypes, writeDeclarations, writeTypes } from './typeScript.ts';

const isLinux = process.platform === 'linux';
if (!isLinux)
  process.stdout.write('SKIPPED: the type checks: their processor time is read from /proc, of Linux.\n');

describe.skipIf(!isLinux)('the project whose type check is measured', () => {
  let project: string;
  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'petstore-types-'));
    await writeProject(project, 20);
    await writeTypes(project);
    for (const library of ['trpc', 'orpc'] as const) await writeDeclarations(project, library);
  });
  afterAll(() => rm(project, { recursive: true }));

  for (const { name, library } of Object.values(clients)) {
    it(`the calls of ${name} have the types of the router, and no other input`, async () => {
      const folder = join(project, name);
      await expect(checkTypes(folder)).resolves.toMatchObject({ seconds: expect.any(Number) as number });
      const method = library === 'trpc' ? '.query' : '';
      const wrong = `import { client } from './client.ts';\nexport const pet = await client.r1.p10${method}({ id: 'one' });\n`;
      await writeFile(join(folder, 'wrong.ts'), wrong);
      await expect(checkTypes(folder)).rejects.toThrow(
        /wrong\.ts\(2,\d+\): error TS2322: Type 'string' is not assignable to type 'number'\./,
      );
    });
  }
});
