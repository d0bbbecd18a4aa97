import { utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { certificateFiles, dialTls, writeCertificate } from '@petstore/testing/certificateFiles';
import { hasUws } from '@petstore/testing/forms';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { RunOptions } from '../options.ts';
import { callInFlight, type Notes, startNotes } from '../testing/startNotes.ts';
import { reloadCertificates } from './certificateReload.ts';

const workerCounts = process.platform === 'linux' ? [1, 2] : [1];

const restartNeeded =
  'this server reads the certificate only at start: restart the service to use the new one';
const notReloaded = 'the certificate could not be reloaded; the previous one stays in use';

/** Starts the notes service with the certificate `one`. */
async function startWithTls(options: Partial<RunOptions>) {
  const tls = await certificateFiles('one');
  return { tls, notes: await startNotes({ ...options, listen: { tls } }) };
}

/** Returns the common name of the certificate that the service presents. */
const shownBy = async ({ origin }: Notes) => (await dialTls(new URL(origin))).name;

test.skipIf(!hasUws).for(workerCounts)(
  'after SIGHUP, server: uws, workers: %i logs that a restart is needed, and serves the certificate of its start',
  async (workers) => {
    const { tls, notes } = await startWithTls({ server: 'uws', workers });
    await writeCertificate(tls, 'two');
    notes.child.kill('SIGHUP');
    await vi.waitFor(() => expect(notes.logged(restartNeeded)).toHaveLength(workers));
    expect(await shownBy(notes)).toBe('one');
    expect(await notes.stop()).toEqual({ code: 0, signal: null });
  },
);

test.for(workerCounts)(
  'SIGHUP makes each process reload its certificate, with server: node, workers: %i',
  async (workers) => {
    const { tls, notes } = await startWithTls({ server: 'node', workers });
    expect(await shownBy(notes)).toBe('one');
    await writeCertificate(tls, 'two');
    notes.child.kill('SIGHUP');
    await vi.waitFor(() => expect(notes.logged('certificate reloaded')).toHaveLength(workers));
    const shown = await Promise.all(Array.from({ length: 8 }, () => shownBy(notes)));
    expect(new Set(shown)).toEqual(new Set(['two']));
  },
);

test.for(workerCounts)('SIGHUP does not end a process that drains: workers: %i', async (workers) => {
  const { notes } = await startWithTls({ workers });
  const endCall = await callInFlight(notes);
  notes.child.kill('SIGTERM');
  await vi.waitFor(() => expect(notes.logged('stopping')).not.toEqual([]));
  await sleep(100);
  notes.child.kill('SIGHUP');
  await sleep(200);
  expect(await endCall()).toMatch(/^HTTP\/1\.1 201 /);
  expect(await notes.exited).toEqual({ code: 0, signal: null });
});

test('an invalid new certificate is logged, and the current one stays in use until the next valid one', async () => {
  const { tls, notes } = await startWithTls({ server: 'node' });
  await writeFile(tls.certFile, 'no certificate');
  notes.child.kill('SIGHUP');
  const err = { message: expect.stringContaining(tls.certFile) as string };
  await vi.waitFor(() => expect(notes.logged(notReloaded)).toMatchObject([{ level: 50, err }]));
  expect(await shownBy(notes)).toBe('one');
  await writeCertificate(tls, 'two');
  notes.child.kill('SIGHUP');
  await vi.waitFor(async () => expect(await shownBy(notes)).toBe('two'));
});

test('reloadCertificates reloads on a change of either file and on SIGHUP, until it is stopped', async () => {
  const files = await certificateFiles('one');
  let reloads = 0;
  const reload = async () => void (reloads += 1);
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const end = reloadCertificates({ files, reload, log, everyMs: 10 });
  onTestFinished(end);
  for (const [index, file] of [files.certFile, files.keyFile].entries()) {
    await utimes(file, index + 1, index + 1);
    await vi.waitFor(() => expect(reloads).toBe(index + 1));
  }
  process.emit('SIGHUP');
  expect(reloads).toBe(3);
  end();
  process.emit('SIGHUP');
  await utimes(files.keyFile, 9, 9);
  await sleep(100);
  expect(reloads).toBe(3);
});
