import { rawCases, type RawCase } from '../rawCase.ts';
import { list } from '../rawRequests.ts';

const getWithHeaders = (headers: string) => `GET /v1/pets HTTP/1.1\r\n${headers}\r\n`;
const hostRule = 'RFC 9112 §3.2: 400 unless there is one Host header with a valid value.';

export const hostCases: readonly RawCase[] = [
  ...rawCases({ uws: '400 by the parser, closed', serves: [] }, [
    [hostRule, 'a request without a Host is rejected', getWithHeaders('A: b\r\n')],
    [
      hostRule,
      'two different Host headers are rejected',
      getWithHeaders('Host: x\r\nHost: y\r\n'),
      { older: '400, closed' },
    ],
    // On uws-pack 20.0.8: It accepts several Host headers, which the adapter rejects.
    [
      hostRule,
      'an empty Host before a valid one is rejected',
      getWithHeaders('Host:\r\nHost: x\r\n'),
      { older: '400, closed' },
    ],
  ]),
  ...rawCases({ uws: '400, closed', serves: [] }, [
    [
      'RFC 9110 §4.2.1: an http URI without a host is invalid.',
      'an empty Host is rejected',
      getWithHeaders('Host:\r\n'),
    ],
    [hostRule, 'a list of hosts in Host is rejected', getWithHeaders('Host: x, y\r\n')],
    [hostRule, 'a Host with a path is rejected', getWithHeaders('Host: x/v1\r\n')],
    [hostRule, 'a Host with user information is rejected', getWithHeaders('Host: u@x\r\n')],
    [hostRule, 'a Host with a space is rejected', getWithHeaders('Host: x y\r\n')],
    [hostRule, 'a Host with an invalid percent-encoding is rejected', getWithHeaders('Host: x%2\r\n')],
  ]),
  ...rawCases({ uws: '200, open', serves: [list] }, [
    [hostRule, 'a Host with a port is served', getWithHeaders('Host: x:8080\r\n')],
    [hostRule, 'a Host that is an IPv6 address is served', getWithHeaders('Host: [::1]:80\r\n')],
    [
      'RFC 3986 §3.2.3: a port may be empty.',
      'a Host with an empty port is served',
      getWithHeaders('Host: x:\r\n'),
    ],
  ]),
];
