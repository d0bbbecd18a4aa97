import { once } from 'node:events';
import { utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { reloadCertificates } from 'trpc-gateway-runtime/tls';
import { hasUws } from '@petstore/testing/forms';
import { selfSigned } from '@petstore/testing/selfSigned';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { apiKey, newFolder } from '../testing/newFolder.ts';
import { logLines } from '../testing/petStoreProcess.ts';
import { createHead } from '../testing/petCalls.ts';

/** Creates a certificate for a test, and the environment variables that name it. */
async function newCertificate(name: string) {
  const folder = await newFolder();
  const files = { certFile: `${folder.dataDir}.crt`, keyFile: `${folder.dataDir}.key` };
  const write = async (shown: string) => {
    const { cert, key } = selfSigned(shown);
    await writeFile(files.certFile, cert);
    await writeFile(files.keyFile, key);
  };
  await write(name);
  const env = { API_KEY: apiKey, TLS_CERT: files.certFile, TLS_KEY: files.keyFile };
  return { ...folder, files, write, env };
}

/** Returns the common name of the certificate that the server presents. */
async function shownBy(origin: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect({ port: Number(port), host: hostname, rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect');
    return String(socket.getPeerCertificate().subject.CN);
  } finally {
    socket.destroy();
  }
}

describe('TLS_CERT and TLS_KEY', () => {
  test.skipIf(!hasUws).for(['1', '2'])(
    'after SIGHUP, SERVER=uws WORKERS=%s logs that a restart is needed, and serves the certificate of its start',
    async (WORKERS) => {
      const { serve, env, write } = await newCertificate('one');
      const server = await serve({ env: { ...env, SERVER: 'uws', WORKERS } });
      await write('two');
      server.child.kill('SIGHUP');
      await vi.waitFor(() => {
        const warnings = logLines(server).filter(({ msg }) => String(msg).includes('restart the service'));
        expect(warnings).toHaveLength(Number(WORKERS));
      });
      expect(await shownBy(server.origin)).toBe('one');
      expect(await server.stop()).toEqual({ code: 0, signal: null });
    },
  );

  test.for(['1', '2'])('SIGHUP does not end a process that drains: WORKERS=%s', async (WORKERS) => {
    const { serve, env } = await newCertificate('one');
    const server = await serve({ env: { ...env, WORKERS } });
    const { hostname, port } = new URL(server.origin);
    const call = connect({ port: Number(port), host: hostname, rejectUnauthorized: false });
    onTestFinished(() => void call.destroy());
    await once(call, 'secureConnect');
    call.write(`${createHead(27)}{"name":"a","categoryId":1`);
    await sleep(200);
    server.child.kill('SIGTERM');
    await vi.waitFor(
      () => expect(logLines(server).filter(({ msg }) => msg === 'stopping')).not.toEqual([]),
      5_000,
    );
    await sleep(100);
    server.child.kill('SIGHUP');
    await sleep(200);
    call.write('}');
    const [response] = (await once(call, 'data')) as [Buffer];
    expect(String(response)).toMatch(/^HTTP\/1\.1 201 /);
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  test('an invalid new certificate is logged, and the current one stays in use', async () => {
    const { serve, env, files, write } = await newCertificate('one');
    const server = await serve({ env: { ...env, SERVER: 'node' } });
    await writeFile(files.certFile, 'no certificate');
    server.child.kill('SIGHUP');
    await vi.waitFor(() => {
      const line = logLines(server).find(({ level }) => level === 50);
      expect(line).toMatchObject({ err: { message: expect.stringContaining(files.certFile) } });
    });
    expect(await shownBy(server.origin)).toBe('one');
    await write('two');
    server.child.kill('SIGHUP');
    await vi.waitFor(async () => expect(await shownBy(server.origin)).toBe('two'));
  });
});

test('reloadCertificates reloads on a change of either file and on SIGHUP, until it is stopped', async () => {
  const { files } = await newCertificate('one');
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
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(reloads).toBe(3);
});
