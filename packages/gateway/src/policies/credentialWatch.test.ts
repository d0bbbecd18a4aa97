import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { HttpRequest } from '../http/request.ts';
import { createCredentialWatch } from './credentialWatch.ts';
import type { Verify } from './scheme.ts';
import { bearer } from './schemes/bearer.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const request = {} as HttpRequest;

/** A watch over the tokens that a function verifies. */
function watchOf(verify: Verify<string>) {
  const watch = createCredentialWatch();
  const scheme = bearer({ verify });
  return (credential: string | undefined, onRevoked: () => void) =>
    watch({ credential, request, scheme, identity: credential }, onRevoked);
}

/** A watch over keys, and how often each was asked for. */
function start() {
  const good = new Set(['a', 'b']);
  const asked: string[] = [];
  const state = { isDown: false };
  const watch = watchOf(async (token) => {
    asked.push(token);
    if (state.isDown) throw new Error('The keys cannot be read.');
    return good.has(token) ? token : undefined;
  });
  return { good, asked, state, watch };
}

describe('the watch over credentials in use', () => {
  it('checks each token once a second, however many use it', async () => {
    const { asked, watch } = start();
    watch('a', () => {});
    watch('a', () => {});
    watch('b', () => {});
    await vi.advanceTimersByTimeAsync(3000);
    expect(asked).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  });

  it('tells all that use a token when it is revoked, and nobody else', async () => {
    const { good, watch } = start();
    const revoked: string[] = [];
    watch('a', () => revoked.push('first'));
    watch('a', () => revoked.push('second'));
    watch('b', () => revoked.push('other'));
    good.delete('a');
    await vi.advanceTimersByTimeAsync(1000);
    expect(revoked).toEqual(['first', 'second']);
  });

  it.each([null, false, undefined] as const)(
    'a token in use is reported as revoked once verify returns %s for it',
    async (revoked) => {
      let identity: string | null | false | undefined = 'Ada';
      const onRevoked = vi.fn();
      watchOf(async () => identity)('a', onRevoked);
      await vi.advanceTimersByTimeAsync(1000);
      expect(onRevoked).not.toHaveBeenCalled();
      identity = revoked;
      await vi.advanceTimersByTimeAsync(1000);
      expect(onRevoked).toHaveBeenCalledOnce();
    },
  );

  it('waits for keys that cannot be read: nothing is known of them', async () => {
    const { good, state, watch } = start();
    const onRevoked = vi.fn();
    watch('a', onRevoked);
    state.isDown = true;
    good.delete('a');
    await vi.advanceTimersByTimeAsync(5000);
    expect(onRevoked).not.toHaveBeenCalled();
    state.isDown = false;
    await vi.advanceTimersByTimeAsync(1000);
    expect(onRevoked).toHaveBeenCalledOnce();
  });

  it('checks a token again 3 s after a check that does not end, and not before', async () => {
    let checks = 0;
    const onRevoked = vi.fn();
    const watch = watchOf(() => {
      checks += 1;
      return checks === 1 ? new Promise<undefined>(() => {}) : undefined;
    });
    watch('a', onRevoked);
    await vi.advanceTimersByTimeAsync(3999);
    expect(checks).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(checks).toBe(2);
    expect(onRevoked).toHaveBeenCalledOnce();
  });

  it('asks no more once nothing uses a token, and runs no timer then', async () => {
    const { asked, watch } = start();
    const ends = [watch('a', () => {}), watch('a', () => {})];
    ends[0]?.();
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toEqual(['a']);
    for (const end of ends) end();
    expect(vi.getTimerCount()).toBe(0);
    watch('b', () => {})();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('has nothing to watch where no credential was asked for', () => {
    start().watch(undefined, () => {});
    createCredentialWatch()({ credential: 'a', request, scheme: undefined, identity: 'a' }, () => {});
    expect(vi.getTimerCount()).toBe(0);
  });
});
