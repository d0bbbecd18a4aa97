// A process that uses the caches: it changes each cache line of 64 MB of memory, again and again, and never ends by itself.
// That is twice the largest cache that cores of these machines share.

const lineBytes = 64;
const memory = new Uint8Array(64 * 2 ** 20);
memory.fill(1);
process.stdout.write('ready\n', () => {
  for (;;) {
    for (let at = 0; at < memory.length; at += lineBytes) memory[at] = (memory[at] as number) + 1;
  }
});
