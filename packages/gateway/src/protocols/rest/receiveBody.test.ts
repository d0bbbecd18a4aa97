import { describe, expect, it } from 'vitest';
import { parseContentType } from './receiveBody.ts';

describe('parseContentType', () => {
  it.each([
    ['application/json', 'application/json', undefined],
    [' Application/JSON ;x=y', 'application/json', undefined],
    ['application/json; charset=UTF-8', 'application/json', 'utf-8'],
    ['application/json;charset="utf-8"', 'application/json', 'utf-8'],
    ['application/json; x=1; charset=latin1', 'application/json', 'latin1'],
  ])('parseContentType reads %j as %j with the charset %j', (header, essence, charset) => {
    expect(parseContentType(header)).toEqual({ essence, charset });
  });

  it('parseContentType takes time that is linear in the length of the header', () => {
    const before = process.cpuUsage();
    parseContentType(`application/json; charset=${' '.repeat(16_000)}"x"y`);
    parseContentType(`application/json${'; charset="'.repeat(1600)}`);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(200);
  });
});
