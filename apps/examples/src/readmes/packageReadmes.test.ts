import { expect, onTestFinished, test } from 'vitest';
import { startPetStore } from '../petStore/startPetStore.ts';
import { newSnippets, printedBy, readReadme } from './readme.ts';

test.for(['core', 'types'])(
  'the programs in the README of @petstore/%s compile and print their last comment',
  async (name) => {
    const { origin, key, close } = await startPetStore();
    onTestFinished(close);
    const programs = (await readReadme(`packages/${name}/README.md`)).blocks('ts');
    expect(programs.length).toBeGreaterThan(0);
    for (const program of programs) {
      const { write, compile, run } = await newSnippets();
      await write({
        'program.ts': program.replaceAll('http://127.0.0.1:3000', origin),
      });
      await compile();
      expect(await run('program.ts', { KEY: key })).toBe(`${printedBy(program)}\n`);
    }
  },
);
