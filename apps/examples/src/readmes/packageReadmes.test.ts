import { expect, onTestFinished, test } from 'vitest';
import { startPetStore } from '../petStore/startPetStore.ts';
import { newSnippets, printedBy, readReadme } from './readme.ts';

test('the programs in the READMEs of @petstore/core, embedded-store and types compile and print their last comment', async () => {
  const { origin, key, close } = await startPetStore();
  onTestFinished(close);
  const { write, compile, run } = await newSnippets();
  const programs: [file: string, program: string][] = [];
  for (const name of ['core', 'embedded-store', 'types']) {
    const blocks = (await readReadme(`packages/${name}/README.md`)).blocks('ts');
    expect(blocks.length).toBeGreaterThan(0);
    programs.push(
      ...blocks.map((block, index): [string, string] => [
        `${name}${index}.ts`,
        block.replaceAll('http://127.0.0.1:3000', origin),
      ]),
    );
  }
  await write(Object.fromEntries(programs));
  await compile();
  for (const [file, program] of programs) {
    expect([file, await run(file, { KEY: key })]).toEqual([file, `${printedBy(program)}\n`]);
  }
});
