import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { HttpRequest } from '../http/request.ts';
import { createCredentialWatch } from './credentialWatch.ts';
import type { Verify } from '../calls/scheme.ts';
import { bearer } from './schemes/bearer.ts';

// Not `setTimeout`: what else runs in the process would be counted.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const request = {} as HttpRequest;

function watchOf(verify: Verify<string>) {
  const watch = createCredentialWatch();
  const scheme = bearer({ verify });
  return (credential: string | undefined, onRevoked: () => void) =>
    watch({ credential, request, scheme, identity: credential }, onRevoked);
}

/** Creates a watch, and records the tokens that it verifies. */
function start() {
  const good = new Set(['a', 'b']);
  const verified: string[] = [];
  const state = { isDown: false };
  const watch = watchOf(async (token) => {
    verified.push(token);
    if (state.isDown) throw new Error('The keys cannot be read.');
    return good.has(token) ? token : undefined;
  });
  return { good, verified, state, watch };
}

describe('createCredentialWatch', () => {
  it('a credential watch verifies each token once a second, however many streams use it', async () => {
    const { verified, watch } = start();
    watch('a', () => {});
    watch('a', () => {});
    watch('b', () => {});
    await vi.advanceTimersByTimeAsync(3000);
    expect(verified).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  });

  it('a credential watch notifies all uses of a revoked token, and no uses of other tokens', async () => {
    const { good, watch } = start();
    const revoked: string[] = [];
    watch('a', () => revoked.push('first'));
    watch('a', () => revoked.push('second'));
    watch('b', () => revoked.push('other'));
    good.delete('a');
    await vi.advanceTimersByTimeAsync(1000);
    expect(revoked).toEqual(['first', 'second']);
  });

  it('a credential watch keeps tokens while verify throws, and revokes them after verify rejects them', async () => {
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

  it('a credential watch repeats a check that does not end after 3 s, and not earlier', async () => {
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

  it('a credential watch starts no further check when a repeated check still runs and the first one ends', async () => {
    const ends: ((identity: string) => void)[] = [];
    watchOf(() => new Promise<string>((resolve) => ends.push(resolve)))('a', () => {});
    await vi.advanceTimersByTimeAsync(4000);
    expect(ends).toHaveLength(2);
    ends[0]?.('a');
    await vi.advanceTimersByTimeAsync(2000);
    expect(ends).toHaveLength(2);
    ends[1]?.('a');
    await vi.advanceTimersByTimeAsync(1000);
    expect(ends).toHaveLength(3);
  });

  it('a credential watch stops its timer when no token is in use, and starts it again for the next one', async () => {
    const { verified, watch } = start();
    const ends = [watch('a', () => {}), watch('a', () => {})];
    ends[0]?.();
    await vi.advanceTimersByTimeAsync(1000);
    expect(verified).toEqual(['a']);
    for (const end of ends) end();
    expect(vi.getTimerCount()).toBe(0);
    watch('b', () => {})();
    expect(vi.getTimerCount()).toBe(0);
    watch('a', () => {});
    expect(vi.getTimerCount()).toBe(1);
  });

  it('a credential watch verifies equal credentials of two schemes separately', async () => {
    const watch = createCredentialWatch();
    const revoked: string[] = [];
    for (const [name, isGood] of [
      ['first', true],
      ['second', false],
    ] as const) {
      const scheme = bearer({ name, verify: () => isGood });
      watch({ credential: 'a', request, scheme, identity: true }, () => revoked.push(name));
    }
    await vi.advanceTimersByTimeAsync(1000);
    expect(revoked).toEqual(['second']);
  });

  it('a credential watch checks a token again while one of its uses is left, by the request of that use', async () => {
    const requests: unknown[] = [];
    const watch = createCredentialWatch();
    const scheme = bearer({ verify: (_token, used) => requests.push(used) });
    const [first, second] = [{}, {}] as HttpRequest[];
    const end = watch({ credential: 'a', request: first as HttpRequest, scheme, identity: 1 }, () => {});
    watch({ credential: 'a', request: second as HttpRequest, scheme, identity: 1 }, () => {});
    await vi.advanceTimersByTimeAsync(1000);
    end();
    await vi.advanceTimersByTimeAsync(1000);
    expect([requests[0] === first, requests[1] === second, requests.length]).toEqual([true, true, 2]);
  });

  it('a credential watch reports a credential that loses a scope, and not one that gains scopes', async () => {
    let scopes = ['a', 'b'];
    const scheme = bearer({ verify: () => ({ scopes }), scopes: (identity) => identity.scopes });
    const onRevoked = vi.fn();
    createCredentialWatch()({ credential: 'a', request, scheme, identity: { scopes } }, onRevoked);
    scopes = ['c', 'b', 'a'];
    await vi.advanceTimersByTimeAsync(1000);
    expect(onRevoked).not.toHaveBeenCalled();
    scopes = ['a'];
    await vi.advanceTimersByTimeAsync(1000);
    expect(onRevoked).toHaveBeenCalledOnce();
  });
});
