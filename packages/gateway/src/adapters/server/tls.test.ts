import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Listening } from './serveOptions.ts';
import { adapters, dial, get, ok, until } from './testing/dial.ts';
import { selfSigned } from '@petstore/testing/selfSigned';
import type { TlsFiles } from './tlsFiles.ts';

describe.each(adapters)('on $adapter', ({ serve, listen }) => {
  async function files(name: string): Promise<TlsFiles> {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-tls-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const tls = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
    await write(tls, name);
    return tls;
  }

  async function write({ certFile, keyFile }: TlsFiles, name: string): Promise<void> {
    const { cert, key } = selfSigned(name);
    await writeFile(certFile, cert);
    await writeFile(keyFile, key);
  }

  /** Connects, and gives the name that the server shows. */
  async function greet({ port }: Listening): Promise<{ readonly socket: TLSSocket; readonly name: string }> {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    onTestFinished(() => {
      socket.destroy();
    });
    await once(socket, 'secureConnect');
    return { socket, name: String(socket.getPeerCertificate().subject.CN) };
  }

  async function ask(socket: TLSSocket): Promise<string> {
    socket.write(get('/'));
    const [data] = await once(socket, 'data');
    return String(data);
  }

  describe('serve over TLS', () => {
    it('answers, on TLS 1.2 or newer', async () => {
      const listening = await listen(() => ok('safe'), { tls: await files('one') });
      const { socket, name } = await greet(listening);
      expect(name).toBe('one');
      expect(socket.getProtocol()).toBe('TLSv1.3');
      expect(await ask(socket)).toMatch(/^HTTP\/1\.1 200 .*safe$/s);
      const old = connect({
        port: listening.port,
        host: '127.0.0.1',
        maxVersion: 'TLSv1.1',
        minVersion: 'TLSv1',
      });
      await expect(once(old, 'secureConnect')).rejects.toThrow(/version|protocol/i);
    });

    it('closes a connection that does not speak it', async () => {
      const listening = await listen(() => ok('safe'), { tls: await files('one') });
      const { socket, text, closed } = await dial(listening);
      socket.write(get('/'));
      await closed;
      expect(text()).not.toContain('safe');
    });

    it('shows a new certificate once it is reloaded, and keeps open connections', async () => {
      const tls = await files('old');
      const listening = await listen(() => ok('x'), { tls });
      const before = await greet(listening);
      await write(tls, 'new');
      expect((await greet(listening)).name).toBe('old');
      await listening.reloadCertificate();
      expect((await greet(listening)).name).toBe('new');
      expect(await ask(before.socket)).toContain('200 OK');
    });

    it('shows only the newest certificate to new connections after the second reload', async () => {
      const tls = await files('first');
      const listening = await listen(() => ok('x'), { tls });
      for (const name of ['second', 'third']) {
        await write(tls, name);
        await listening.reloadCertificate();
      }
      const names = await Promise.all(Array.from({ length: 20 }, async () => (await greet(listening)).name));
      expect(new Set(names)).toEqual(new Set(['third']));
    });

    it('loses no connection while it is reloaded, again and again', async () => {
      const tls = await files('again');
      const listening = await listen(() => ok('x'), { tls });
      const state = { isOver: false };
      let answers = 0;
      const client = async () => {
        while (!state.isOver) {
          const { socket } = await greet(listening);
          expect(await ask(socket)).toContain('200 OK');
          answers += 1;
          socket.destroy();
        }
      };
      const clients = Promise.all([client(), client(), client()]);
      for (let times = 0; times < 20; times += 1) await listening.reloadCertificate();
      state.isOver = true;
      await clients;
      expect(answers).toBeGreaterThan(3);
    });

    it('counts and closes the connections of every certificate it has shown', async () => {
      const tls = await files('one');
      const listening = await serve({ handle: () => ok('x') }, { tls });
      const first = await greet(listening);
      await listening.reloadCertificate();
      const second = await greet(listening);
      let ended = 0;
      for (const { socket } of [first, second]) socket.resume().on('close', () => (ended += 1));
      expect(await listening.close({ deadlineMs: 50 })).toBe(0);
      // Sooner than uWS closes what is idle.
      await until(() => expect(ended).toBe(2));
    });

    it('closes a connection beyond the limit', async () => {
      const listening = await listen(() => ok('x'), { tls: await files('one'), maxConnections: 1 });
      await greet(listening);
      await expect(greet(listening)).rejects.toThrow(/socket|ECONNRESET/);
    });

    it.each<[what: string, spoil: (tls: TlsFiles) => Promise<void>, message: RegExp]>([
      ['is not there', ({ certFile }) => rm(certFile), /cert\.pem cannot be read: ENOENT\.$/],
      [
        'is no certificate',
        ({ certFile }) => writeFile(certFile, 'x'),
        /cert\.pem holds no certificate in PEM\.$/,
      ],
      ['has a key that is none', ({ keyFile }) => writeFile(keyFile, 'x'), /key\.pem holds no private key/],
      [
        'has another’s key',
        ({ keyFile }) => writeFile(keyFile, selfSigned('other').key),
        /The key in .*key\.pem is not that of the certificate in .*cert\.pem\.$/,
      ],
    ])(
      'says in one sentence where the certificate %s, at the start and when it is reloaded',
      async (_what, spoil, message) => {
        const tls = await files('good');
        const listening = await listen(() => ok('x'), { tls });
        await spoil(tls);
        const error = { name: 'CertificateError', message: expect.stringMatching(message) };
        await expect(listening.reloadCertificate()).rejects.toMatchObject(error);
        await expect(serve({ handle: () => ok() }, { tls })).rejects.toMatchObject(error);
        // It goes on with what it had.
        expect((await greet(listening)).name).toBe('good');
        await until(() => expect(listening.inFlight()).toBe(0));
      },
    );
  });
});
