# SPDX-License-Identifier: MIT
package Collectd::Graph::Type::Ebpf;

# A module of collection3: for each service, the charts of collection.conf's <Graph> blocks of a type. A chart has curves from
# files of any type. Files of other plugins are drawn as without this module.

use strict;
use warnings;
use base 'Collectd::Graph::Type';

use File::Basename qw(basename dirname);
use URI::Escape qw(uri_escape);

use Collectd::Graph::Common qw(ident_to_filename);
use Collectd::Graph::Config qw(gc_get_config);

# The members of a block in the order of their names.
sub in_order
{
	my ($blocks) = @_;
	return map { $blocks->{$_} } sort keys %{ $blocks || {} };
}

# A path with its colons escaped, as rrdtool wants it.
sub escaped
{
	my ($text) = @_;
	$text =~ s/([:\\])/\\$1/g;
	return $text;
}

sub has_word
{
	my ($text, $word) = @_;
	return scalar grep { $_ eq $word } split ' ', $text;
}

# Whether a series has a key: what its `*` stands for.
sub is_chosen
{
	my ($series, $key) = @_;
	return 0 if defined $series->{only} && !has_word($series->{only}, $key);
	return !(defined $series->{without} && has_word($series->{without}, $key));
}

# Numbers by their size, and before names.
sub by_size
{
	my ($left, $right) = @_;
	my ($one, $other) = map { /^([0-9.]+)$/ ? $1 : 9e9 } $left, $right;
	return $one <=> $other || $left cmp $right;
}

# [key, path] of the files of a series in a directory.
sub files_of
{
	my ($series, $directory) = @_;
	my ($before, $after) = split /\*/, $series->{file}, 2;
	if (!defined $after) {
		my $path = "$directory/$before.rrd";
		return -e $path ? ['', $path] : ();
	}
	opendir my $entries, $directory or return ();
	my @found = map { /^\Q$before\E(.*)\Q$after\E\.rrd$/ && is_chosen($series, $1) ? [$1, "$directory/$_"] : () }
		readdir $entries;
	closedir $entries;
	return sort { by_size($a->[0], $b->[0]) } @found;
}

# The curves of a chart: {series, label, path} each.
sub curves_of
{
	my ($graph, $directory) = @_;
	my (@curves, %seen, $is_above);
	for my $series (in_order($graph->{series})) {
		next if $series->{above} && $is_above;
		# What has a colour of its own comes first.
		for my $file (grep { !$seen{ $_->[1] . ':' . $series->{source} }++ } files_of($series, $directory)) {
			(my $label = $series->{label}) =~ s/\*/$file->[0]/;
			push @curves, { series => $series, label => $label, path => $file->[1] };
			$is_above = 1 if $series->{above};
		}
	}
	return @curves;
}

# {ident, directory, graph} of each picture. ident: of one of the files
sub pictures
{
	my ($self) = @_;
	my (@found, %seen);
	for my $ident (@{ $self->{files} }) {
		if ($ident->{plugin} ne 'ebpf') {
			push @found, { ident => $ident };
			next;
		}
		my $directory = dirname(ident_to_filename($ident));
		next if $seen{$directory}++;
		push @found, map { { ident => $ident, directory => $directory, graph => $_ } }
			grep { $_->{type} eq $ident->{type} && curves_of($_, $directory) } in_order(gc_get_config()->{graph});
	}
	return @found;
}

sub getGraphsNum
{
	my ($self) = @_;
	return scalar(my @pictures = $self->pictures());
}

# The parameters with which graph.cgi draws a picture.
sub getGraphArgs
{
	my ($self, $index) = @_;
	my @pictures = $self->pictures();
	my $picture = $pictures[$index];
	my $ident = $picture->{ident};
	my @names = qw(hostname plugin plugin_instance type);
	push @names, 'type_instance' if !$picture->{graph};
	my $first = 0;
	$first++ while ident_key($pictures[$first]) ne ident_key($picture);
	return join ';', (map { $_ . '=' . uri_escape($ident->{$_}) } grep { defined $ident->{$_} } @names),
		'index=' . ($picture->{graph} ? $index - $first : 0);
}

# What the pictures of one service have in common.
sub ident_key
{
	my ($picture) = @_;
	return $picture->{directory} || ident_to_filename($picture->{ident});
}

# Draws a curve. number: of the curve; begins: whether it is the lowest of a stack
sub drawing
{
	my ($curve, $number, $color, $label, $begins) = @_;
	my $draw = $curve->{series}{draw};
	return "AREA:avg$number#$color:$label" . ($begins ? '' : ':STACK') if $draw eq 'stack' || $draw eq 'cap';
	return "AREA:avg$number#$color:$label" if $draw eq 'area';
	return "LINE1:avg$number#$color:$label" . ($draw eq 'line' ? '' : ':dashes');
}

sub getRRDArgs
{
	my ($self, $index) = @_;
	my $picture = ($self->pictures())[$index];
	if (!$picture->{graph}) {
		$self->{files} = [$picture->{ident}];
		return $self->SUPER::getRRDArgs(0);
	}
	my $graph = $picture->{graph};
	my @curves = curves_of($graph, $picture->{directory});
	my %taken = map { $_->{series}{color} || '' => 1 } @curves;
	my @colors = grep { !$taken{$_} } split ' ', gc_get_config()->{palette};
	my ($width) = sort { $b <=> $a } map { length $_->{label} } @curves;
	my $name = $picture->{ident}{plugin_instance};
	my @arguments = ('-t', "$graph->{title}: $name", '-v', $graph->{vertical}, split(' ', $graph->{options}));
	my $begins = 1;
	for my $number (0 .. $#curves) {
		my $curve = $curves[$number];
		my $series = $curve->{series};
		my $color = $series->{color} || shift(@colors) || '808080';
		for (['avg', 'AVERAGE'], ['max', 'MAX']) {
			my $source = escaped($curve->{path}) . ":$series->{source}:$_->[1]";
			push @arguments, "DEF:raw$_->[0]$number=$source", "CDEF:$_->[0]$number=raw$_->[0]$number,$series->{scale},*";
		}
		push @arguments, drawing($curve, $number, $color, escaped(sprintf '%-*s', $width, $curve->{label}), $begins),
			"GPRINT:avg$number:AVERAGE:$graph->{format} Avg,", "GPRINT:max$number:MAX:$graph->{format} Max,",
			"GPRINT:avg$number:LAST:$graph->{format} Last\\l";
		$begins = 0;
	}
	return \@arguments;
}

1;
