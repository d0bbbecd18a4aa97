import { expect, it } from 'vitest';
import { writtenErrors } from './processes.ts';

it('the report of a violation has each error that processes logged once, with its cause, and what is on stderr', () => {
  const line = (level: number, message: string) =>
    `${JSON.stringify({ level, msg: 'request', status: 503, err: { message } })}\n`;
  const stdout = () => `${line(50, 'away: no disk').repeat(2)}${line(30, 'none')}{`;
  expect(writtenErrors([{ stdout, stderr: () => 'a warning\n' }])).toEqual([
    '2 times: request 503 away: no disk',
    '1 times: a warning',
  ]);
});
