/** How a hook of the service's author may fail. */
export const failures: readonly (readonly [what: string, fail: () => unknown])[] = [
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
  ['rejects', async () => Promise.reject(new Error('broken'))],
];
