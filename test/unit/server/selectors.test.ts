import { describe, expect, it } from 'vitest';
import { parseFieldSelector } from '../../../src/server/kubernetes/field-selector.ts';
import { servedKind } from '../../../src/server/kubernetes/kinds.ts';
import { parseLabelSelector } from '../../../src/server/kubernetes/label-selector.ts';

const LABELS = { app: 'web', tier: 'front', weight: '7', empty: '', 'example.com/x': 'y' };

describe('a label selector', () => {
  it.each([
    ['app=web', true],
    ['app==web', true],
    ['app = web', true],
    ['app=api', false],
    ['app!=api', true],
    ['app!=web', false],
    ['none!=x', true],
    ['none=', false],
    ['empty=', true],
    ['empty', true],
    ['none', false],
    ['!none', true],
    ['! app', false],
    ['app in (api, web)', true],
    ['app in (api)', false],
    ['app notin (api)', true],
    ['app notin (web)', false],
    ['none notin (web)', true],
    ['empty in ()', true],
    ['app in (api,)', false],
    ['weight>6', true],
    ['weight>7', false],
    ['weight<8', true],
    ['weight<7', false],
    ['app>1', false],
    ['none>1', false],
    ['example.com/x=y', true],
    ['app=web,tier=front', true],
    ['app=web,tier=back', false],
    ['in=x', false],
    ['toString', false],
  ])('%s', (text, isMatch) => {
    expect(parseLabelSelector(text)?.(LABELS)).toBe(isMatch);
  });

  it.each([[''], ['  ']])('of nothing (%j) selects all', (text) => {
    expect(parseLabelSelector(text)).toBeUndefined();
  });

  it.each([
    ['app in'],
    ['app in web'],
    ['app in (web'],
    ['app=web tier=front'],
    ['=web'],
    ['app=we/b'],
    ['-app'],
    ['app>x'],
    ['app like x'],
    [',app'],
    ['app=a=b'],
    ['!'],
    ['app!'],
    ['app=(x)'],
    ['app=web,'],
    [','],
  ])('%s is none', (text) => {
    expect(() => parseLabelSelector(text)).toThrow('unable to parse requirement');
  });
});

describe('a field selector', () => {
  const kind = servedKind({ version: 'v1', kind: 'Pod', plural: 'pods', fieldSelectors: ['spec.nodeName', 'spec.n'] });
  const pod = { metadata: { name: 'a', namespace: 'ns1' }, spec: { nodeName: 'x,y=\\', n: 7 } };

  it.each([
    ['metadata.name=a', true],
    ['metadata.name==a', true],
    ['metadata.name!=a', false],
    ['metadata.name=b', false],
    ['metadata.namespace=ns1,metadata.name=a', true],
    ['metadata.namespace=ns1,metadata.name=b', false],
    ['spec.n=7', true],
    ['spec.nodeName=x\\,y\\=\\\\', true],
    ['spec.nodeName=', false],
  ])('%s', (text, isMatch) => {
    expect(parseFieldSelector(text, kind)?.(pod)).toBe(isMatch);
    expect(parseFieldSelector('spec.nodeName=', kind)?.({})).toBe(true);
  });

  it('of nothing selects all', () => {
    expect(parseFieldSelector('', kind)).toBeUndefined();
  });

  it.each([
    ['spec.x=1', 'field label not supported: spec.x'],
    ['metadata.name', 'is no condition'],
    ['=a', 'is no condition'],
    ['metadata.name=a=b', 'has two values'],
    ['metadata.name=a\\', 'of no use'],
    ['metadata.name=a\\b', 'of no use'],
    ['\\', 'is no condition'],
  ])('%s is none', (text, why) => {
    expect(() => parseFieldSelector(text, kind)).toThrow(why);
  });

  it('has no namespace where there is none', () => {
    const node = servedKind({ version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false });
    expect(() => parseFieldSelector('metadata.namespace=a', node)).toThrow('not supported');
  });
});
