import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@petstore/testing/freePort';
import { listening, logLines, startService } from '@petstore/testing/serviceProcess';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { afterAll } from 'vitest';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));

/** The credential of the user who asks. */
export const authorization = `Basic ${btoa('ada:demo')}`;

/** Starts the service until the tests of a file or a group end. Its model takes a tenth of a second for a word. */
export async function newAnswers() {
  const folder = await temporaryFolder(afterAll);
  const env = {
    PATH: process.env['PATH'],
    PORT: String(await freePort()),
    DATA_DIR: join(folder, 'events'),
    WORD_MS: '100',
  };
  const service = await listening(startService(process.execPath, [main], { env }));
  afterAll(service.stop);
  return {
    origin: service.origin,
    /** Returns the log lines of the workers that listen. */
    workers: () => logLines(service).filter(({ msg }) => msg === 'worker listening'),
    /** Returns the processes in which the model was asked a question. */
    calledBy: (question: string): number[] =>
      logLines(service)
        .filter((line) => line['msg'] === 'the model is called' && line['question'] === question)
        .map(({ pid }) => Number(pid)),
  };
}

/** Returns a question that was not asked before. */
export const newQuestion = () => ({ id: randomUUID(), question: `Why ${randomUUID()}?` });

/** The whole answer to a question. */
export const answerTo = (question: string): RegExp =>
  new RegExp(`^Process \\d+ was asked “${question.replace('?', '[?]')}”[.] .* one, two, .* ten[.]$`);
